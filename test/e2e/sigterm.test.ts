import { expect, it } from 'vitest';
import { offersTool } from '../support/scripted-messages-api.ts';
import { openStack } from '../support/stack.ts';
import { eventsByTask, readRecord } from './support/job-record.ts';

const EXIT_WITHIN_MS = 10_000;

it('gives its tasks back on SIGTERM in the middle of model calls and exits; another worker completes them', {
  timeout: 120_000,
}, async () => {
  // A lease far longer than the test: what is ready again was given back, and did not expire.
  await using stack = await openStack({
    variables: { CREWBOARD_LEASE_MS: '600000', CREWBOARD_CONCURRENCY: '2' },
  });
  const first = await stack.startWorker();
  const held = stack.model.hold((request) => offersTool(request, 'board_submit'), 2);
  const titles = ['One', 'Two', 'Three', 'Four'];
  const { id } = await stack.client.jobs.submit({ tasks: titles.map((title) => ({ title })) });
  await held.arrived(2);
  const started = performance.now();
  first.send('SIGTERM');
  expect(await first.ended).toBe(0);
  expect(performance.now() - started).toBeLessThan(EXIT_WITHIN_MS);

  const { counts } = await stack.client.jobs.get(id);
  expect(counts).toMatchObject({ pending: 4, ready: 4, scheduled: 0, failed: 0 });
  const released = await readRecord(stack, id);
  expect(Object.values(eventsByTask(released, 'task.released'))).toEqual([1, 1]);
  expect(released.tasks.map(({ attempt, failures }) => [attempt, failures])).toEqual([
    [1, 0],
    [1, 0],
    [0, 0],
    [0, 0],
  ]);
  const calls = await Promise.all(stack.model.requests.map(({ ended }) => ended));
  expect(calls).toEqual(['aborted', 'aborted']);

  held.open();
  await stack.startWorker();
  expect((await stack.untilEnded(id)).status).toBe('succeeded');
  const record = await readRecord(stack, id);
  expect(record.tasks.map(({ attempt, failures }) => [attempt, failures])).toEqual([
    [2, 0],
    [2, 0],
    [1, 0],
    [1, 0],
  ]);
  expect(Object.values(eventsByTask(record, 'task.completed'))).toEqual([1, 1, 1, 1]);
  expect(record.events.map(({ type }) => type)).not.toContain('task.expired');
});
