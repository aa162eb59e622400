import type { JobBody } from '@crewboard/contracts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { folderWith, type TestFolder } from '../regression/support.ts';
import { type LocalStack, openLocalStack } from '../support/local-stack.ts';

let folder: TestFolder;
let stack: LocalStack;

beforeAll(async () => {
  folder = await folderWith({ 'a.md': '# One\n' });
  const variables = { CREWBOARD_COMMANDS: 'host' };
  stack = await openLocalStack({ workspaces: [folder.path], variables });
});

afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
  await folder?.[Symbol.asyncDispose]();
});

const COMMAND = { title: 'Say so', executor: 'command', command: { run: 'echo done' } } as const;
const EXTERNAL = { title: 'Wait', executor: 'external' } as const;

async function marksOf(jobId: string) {
  const { jobs } = await stack.client.jobs.list();
  const listed = jobs.find(({ id }) => id === jobId);
  const [job, result] = [await stack.client.jobs.get(jobId), await stack.client.jobs.result(jobId)];
  return [listed?.simulated, job.simulated, result.simulated];
}

test.each<{ what: string; body: JobBody; simulated: boolean; models?: string[] }>([
  { what: 'commands alone', body: { tasks: [COMMAND] }, simulated: false, models: [] },
  {
    what: 'a command and the agent of a task',
    body: { tasks: [COMMAND, { title: 'Read' }] },
    simulated: true,
  },
  { what: 'a lead', body: { goal: 'Read a.md' }, simulated: true, models: ['lead', 'worker'] },
])('a job of $what says simulated: $simulated', async ({ body, simulated, models = ['worker'] }) => {
  const whole = { ...body, workspace: { path: folder.path } };
  const dry = await stack.client.jobs.dryRun(whole);
  expect(dry.simulated).toBe(simulated);
  expect(Object.keys(dry.models)).toEqual(models);
  expect(dry.warnings.join().includes('the simulated model would answer')).toBe(simulated);
  const job = await stack.run(whole);
  expect(job.status).toBe('succeeded');
  expect(await marksOf(job.id)).toEqual([simulated, simulated, simulated]);
});

test('a job whose lead is still to plan is simulated, and not when it was cancelled before any answer', async () => {
  await using idle = await openLocalStack({ worker: false });
  const planned = await idle.client.jobs.submit({ goal: 'Read a.md' });
  expect((await idle.client.jobs.get(planned.id)).simulated).toBe(true);
  expect((await idle.client.jobs.cancel(planned.id, 'not wanted')).simulated).toBe(false);
  const external = await idle.client.jobs.submit({ tasks: [EXTERNAL] });
  expect((await idle.client.jobs.get(external.id)).simulated).toBe(false);
});
