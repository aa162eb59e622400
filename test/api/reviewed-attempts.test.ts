import { AttemptList } from '@crewboard/contracts';
import { expect, test } from 'vitest';
import { openRealApp } from './open-real-app.ts';

test('an attempt whose task is in review has ended, and has no outcome until the review gives it one', async () => {
  await using app = await openRealApp();
  const { jobId, ids } = await app.board.job([
    { key: 'a', title: 'A', executor: 'external', policy: 'approved' },
    { key: 'b', title: 'B', executor: 'external' },
  ]);
  const task = `/${jobId}/tasks/${ids.a}`;
  const read = async () => AttemptList.parse((await app.send('GET', `${task}/attempts`)).body).attempts;
  const handIn = async () => {
    const claim = { taskId: ids.a, owner: 'bob' };
    const { claimToken } = (await app.send('POST', `/${jobId}/tasks/claim`, claim)).body;
    const { version } = (await app.send('GET', task)).body;
    const { body } = await app.send('POST', `${task}/submit`, { claimToken, version, summary: 'done' });
    expect(body.status).toBe('in_review');
    return body.version;
  };
  const first = await handIn();
  const [waiting, ...others] = await read();
  expect(others).toEqual([]);
  expect(waiting).toMatchObject({ attempt: 1, endedAt: expect.any(String) });
  expect(waiting).not.toHaveProperty('outcome');

  await app.send('POST', `${task}/reject`, { version: first, text: 'too short' });
  expect(await read()).toMatchObject([{ attempt: 1, outcome: 'rejected', answer: 'too short' }]);

  const second = await handIn();
  const both = await read();
  expect(both).toMatchObject([{ attempt: 1, outcome: 'rejected' }, { attempt: 2 }]);
  expect(both[1]).not.toHaveProperty('outcome');

  await app.send('POST', `${task}/approve`, { version: second });
  expect(await read()).toMatchObject([
    { attempt: 1, outcome: 'rejected' },
    { attempt: 2, outcome: 'completed' },
  ]);
});
