import { NewTask, TaskChanges } from '@crewboard/contracts';
import { expect, it } from 'vitest';

const item = (id: string) => ({ id, text: `Item ${id}` });

it.each([
  ['a new task', NewTask],
  ['a change', TaskChanges],
])('refuses two acceptance items of one ID in %s, and says which', (_, schema) => {
  const parsed = schema.safeParse({ title: 'A', acceptance: [item('a'), item('b'), item('a')] });
  expect(parsed.error?.issues).toMatchObject([
    { path: ['acceptance', 2, 'id'], message: '"a" is the ID of another item of this task' },
  ]);
  expect(schema.safeParse({ title: 'A', acceptance: [item('a'), item('b')] }).success).toBe(true);
});
