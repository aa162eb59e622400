import { expect, it } from 'vitest';
import { readRecord } from '../e2e/support/job-record.ts';
import { allText, type MessagesRequest } from '../support/scripted-messages-api.ts';
import { openStack } from '../support/stack.ts';

const LEASE_MS = 2000;
const callOf = (title: string) => (request: MessagesRequest) => allText(request).includes(`"${title}"`);

/** Loaded before a process's own code: its clock is ten minutes ahead. */
const FAST_CLOCK = `const Real = Date;
globalThis.Date = class extends Real {
  constructor(...given) { given.length === 0 ? super(Real.now() + 600000) : super(...given); }
  static now() { return Real.now() + 600000; }
};`;
const AHEAD = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(FAST_CLOCK)}` };

it('a live holder keeps its task beside a worker whose clock is ten minutes ahead; a dead one loses it after its lease', {
  timeout: 180_000,
}, async () => {
  await using stack = await openStack({
    variables: { CREWBOARD_LEASE_MS: String(LEASE_MS), CREWBOARD_CONCURRENCY: '1' },
  });
  const holder = await stack.startWorker();
  const held = stack.model.hold(callOf('Held'), 1);
  const { id } = await stack.client.jobs.submit({ tasks: [{ title: 'Held' }] });
  await held.arrived(1);
  const other = await stack.startWorker(AHEAD);
  // Its own clock is as it says: its log is ahead of this test's.
  const started = await other.logged(({ msg }) => msg === 'worker started');
  expect(Number(started.time)).toBeGreaterThan(Date.now() + 300_000);

  const leaseOf = async () =>
    Number(await stack.store.redis.zscore(stack.boards.keys.board(id, 'lease'), (await task()).id));
  const task = async () => {
    const [found] = (await stack.client.tasks.list(id)).tasks;
    if (found === undefined) throw new Error('the job has no task');
    return found;
  };
  // Two whole leases: both sweep all the time, and heartbeats move the end on.
  const first = await leaseOf();
  await expect.poll(leaseOf, { timeout: 30_000 }).toBeGreaterThan(first + 2 * LEASE_MS);
  expect(await task()).toMatchObject({ status: 'in_progress', attempt: 1 });

  await holder.kill();
  const end = await leaseOf();
  const expired = await stack.untilEvent(id, ({ type }) => type === 'task.expired');
  expect(Number(expired.id.split('-')[0])).toBeGreaterThanOrEqual(end);
  held.open();
  expect((await stack.untilEnded(id)).status).toBe('succeeded');
  const record = await readRecord(stack, id);
  expect(record.tasks).toMatchObject([{ status: 'completed', attempt: 2, failures: 0 }]);
  expect(record.events.filter(({ type }) => type === 'task.expired')).toHaveLength(1);
});

it('a task that kills its worker three times fails as infra, and the rest goes on', {
  timeout: 240_000,
}, async () => {
  await using stack = await openStack({
    variables: {
      CREWBOARD_LEASE_MS: '1000',
      CREWBOARD_CONCURRENCY: '1',
      CREWBOARD_INFRA_STRIKES: '3',
    },
  });
  const { id } = await stack.client.jobs.submit({
    tasks: [{ title: 'Kills' }, { title: 'Rest one' }, { title: 'Rest two' }],
    limits: { maxParallel: 1 },
  });
  for (let times = 1; times <= 3; times++) {
    const held = stack.model.hold(callOf('Kills'), 1);
    const worker = await stack.startWorker();
    await held.arrived(1);
    await worker.kill();
    held.open();
    // The API's own sweeper notices.
    const isEnd = times < 3 ? 'task.expired' : 'task.failed';
    await stack.untilEvent(id, ({ type, attempt }) => type === isEnd && attempt === times);
  }
  await stack.startWorker();
  expect(await stack.untilEnded(id)).toMatchObject({
    status: 'partial',
    counts: { total: 3, completed: 2, failed: 1 },
  });
  const { tasks } = await readRecord(stack, id);
  expect(tasks[0]).toMatchObject({
    status: 'failed',
    attempt: 3,
    failures: 0,
    failure: { class: 'infra', reason: 'the worker was lost 3 times in a row' },
  });
  const attempts = await stack.boards.attempts(id, tasks[0]?.id ?? '', 3);
  expect(attempts.map(({ outcome }) => outcome)).toEqual(['expired', 'expired', 'failed']);
});
