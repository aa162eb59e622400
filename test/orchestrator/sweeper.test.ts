import { newJobId } from '@crewboard/contracts';
import { describe, expect, it } from 'vitest';
import { boardsOf } from '../support/boards-of.ts';
import { openLocalStack } from '../support/local-stack.ts';

/** An API without a worker: its sweeper is the only one, and nothing takes from the queues. */
const openStack = () => openLocalStack({ worker: false, variables: { CREWBOARD_LEASE_MS: '400' } });

describe('the sweeper', () => {
  it('leaves a submit that has no board yet on the live list', async () => {
    await using stack = await openStack();
    const boards = boardsOf(stack);
    const jobId = newJobId();
    await boards.index.addLive(jobId);
    const { id } = await stack.client.jobs.submit({ tasks: [{ title: 'A' }] });
    // Two rounds later than a board that was there, an absent one would be gone.
    await expect
      .poll(async () => (await boards.sweep(id, { intervalMs: 0, leaseMs: 1, strikes: 1, staleMs: 1 })).kind)
      .toBe('swept');
    await expect.poll(async () => (await boards.readOutbox(id, 10)).length).toBe(0);
    expect(await boards.index.liveJobs()).toContain(jobId);
  });

  it('takes an ended job off the live list, and a reopened one stays on it', async () => {
    await using stack = await openStack();
    const boards = boardsOf(stack);
    const { id } = await stack.client.jobs.submit({ tasks: [{ title: 'A' }] });
    expect(await boards.index.liveJobs()).toContain(id);
    await stack.client.jobs.cancel(id);
    await expect.poll(() => boards.index.liveJobs()).not.toContain(id);
  });

  it('queues a task again whose queue job was removed, under its own ID and once', async () => {
    await using stack = await openStack();
    const { id } = await stack.client.jobs.submit({ tasks: [{ title: 'A' }] });
    const queue = `${stack.store.prefix}:crewboard.sim.tasks`;
    const waiting = async () => [
      ...(await stack.store.redis.lrange(`${queue}:wait`, '0', '-1')),
      ...(await stack.store.redis.zrange(`${queue}:prioritized`, '0', '-1')),
    ];
    await expect.poll(waiting).toHaveLength(1);
    const [queued] = await waiting();
    await stack.store.redis.del(`${queue}:prioritized`, `${queue}:${queued}`);
    await expect.poll(waiting, { timeout: 10_000 }).toEqual([queued]);
    expect((await stack.client.jobs.get(id)).counts.ready).toBe(1);
  });
});
