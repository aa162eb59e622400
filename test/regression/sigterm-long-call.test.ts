import { expect, it } from 'vitest';
import { eventsByTask, readRecord } from '../e2e/support/job-record.ts';
import { offersTool } from '../support/scripted-messages-api.ts';
import { openStack, type Stack, type WorkerProcess } from '../support/stack.ts';

const EXIT_WITHIN_MS = 10_000;
const TITLES = ['One', 'Two', 'Three', 'Four'];

/** Sends SIGTERM, twice if asked for, in the middle of model calls; the worker is gone in time, of its own accord. */
async function terminate(worker: WorkerProcess, signals: number): Promise<void> {
  const started = performance.now();
  for (let sent = 0; sent < signals; sent++) worker.send('SIGTERM');
  expect(await worker.ended).toBe(0);
  expect(performance.now() - started).toBeLessThan(EXIT_WITHIN_MS);
}

/** All is ready at once, and no attempt of any task was used up. */
async function expectGivenBack(stack: Stack, jobId: string, attempts: number[]): Promise<void> {
  const { counts } = await stack.client.jobs.get(jobId);
  expect(counts).toMatchObject({ pending: 4, ready: 4, scheduled: 0, failed: 0 });
  const record = await readRecord(stack, jobId);
  expect(record.tasks.map(({ attempt }) => attempt)).toEqual(attempts);
  expect(record.tasks.every(({ failures }) => failures === 0)).toBe(true);
  expect(Object.values(eventsByTask(record, 'task.released'))).toEqual(attempts.filter((times) => times > 0));
  expect(record.events.map(({ type }) => type)).not.toContain('task.expired');
}

it('gives its tasks back on SIGTERM in the middle of model calls and exits, twice in a row; another worker completes them', {
  timeout: 180_000,
}, async () => {
  // A lease far longer than the test: what is ready again was given back, and did not expire.
  await using stack = await openStack({
    variables: { CREWBOARD_LEASE_MS: '600000', CREWBOARD_CONCURRENCY: '2' },
  });
  const first = await stack.startWorker();
  const held = stack.model.hold((request) => offersTool(request, 'board_submit'), 4);
  const { id } = await stack.client.jobs.submit({ tasks: TITLES.map((title) => ({ title })) });
  await held.arrived(2);
  await terminate(first, 1);
  await expectGivenBack(stack, id, [1, 1, 0, 0]);

  const second = await stack.startWorker();
  await held.arrived(4);
  const taken = (await readRecord(stack, id)).tasks.map(({ attempt }) => attempt);
  // A supervisor that repeats itself is no reason to leave anything behind.
  await terminate(second, 2);
  await expectGivenBack(stack, id, taken);
  // No claim came after the signals, and every call that ran was cut off.
  const calls = await Promise.all(stack.model.requests.map(({ ended }) => ended));
  expect(calls).toEqual(['aborted', 'aborted', 'aborted', 'aborted']);

  held.open();
  await stack.startWorker();
  expect((await stack.untilEnded(id)).status).toBe('succeeded');
  const record = await readRecord(stack, id);
  expect(record.tasks.map(({ attempt, failures }) => [attempt, failures])).toEqual(
    taken.map((attempts) => [attempts + 1, 0]),
  );
  expect(Object.values(eventsByTask(record, 'task.completed'))).toEqual([1, 1, 1, 1]);
});
