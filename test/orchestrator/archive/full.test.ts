import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { drainOutbox } from '../../board/random-history.ts';
import { boardFixtureOn } from '../../support/board.ts';
import { type EndedJob, endedJob } from '../../support/ended-job.ts';
import { hasRedisServer, startRedisProcess } from '../../support/redis-process.ts';
import { converse, message, NEVER, openRetentionRig, type RetentionRig } from '../../support/retention.ts';

const PREFIX = '{full}';
const LARGE = 4_000_000;
const WITHIN = { timeout: 20_000 };

/** Boards and stores over a redis-server of their own, with an ended job and its conversations in it. */
async function openFull() {
  const server = await startRedisProcess();
  const redis = new Redis(server.url, { maxRetriesPerRequest: null });
  const store = { redis, url: server.url, prefix: PREFIX, [Symbol.asyncDispose]: async () => {} };
  const rig = await openRetentionRig(async (readStored) => ({
    ...boardFixtureOn(redis, PREFIX, readStored),
    store,
    [Symbol.asyncDispose]: async () => {
      redis.disconnect();
      await server[Symbol.asyncDispose]();
    },
  }));
  return { rig, redis, job: await endedJob(rig) };
}

/** Sets the limit below what is in use by less than the job's conversation, so that room is made by its removal. */
async function fill(redis: Redis): Promise<void> {
  const used = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
  await redis.config('SET', 'maxmemory', String(used - LARGE / 2));
  await expect(redis.set('more', 'x')).rejects.toThrow(/^OOM/);
}

/** A long conversation that is left in Redis. */
async function talkLong({ board: { boards, job, claim } }: RetentionRig): Promise<EndedJob['jobId']> {
  const { jobId, ids } = await job([{ key: 'a', title: 'A' }]);
  const held = await claim(jobId, ids.a ?? '');
  await converse(boards, held, { kind: 'start', fresh: true }, message('x'.repeat(LARGE)));
  await boards.submit(held.hold, 's', held.task.version, { summary: 'done', artifacts: [], evidence: [] });
  await drainOutbox(boards, jobId);
  return jobId;
}

describe.runIf(await hasRedisServer())('a Redis at its maxmemory', () => {
  it('has room again when an ended job is deleted', { timeout: 60_000 }, async () => {
    const { rig, redis } = await openFull();
    await using _ = rig;
    const jobId = await talkLong(rig);
    await fill(redis);
    expect(await rig.deleteJob(jobId, 'default')).toBe(true);
    expect(await rig.keysOf(jobId)).toEqual([`${PREFIX}:deleted:${jobId}`]);
    await expect.poll(() => redis.set('more', 'x').catch(String), WITHIN).toBe('OK');
  });

  it('has room again after a round of the retention, and the job is read from its archive', {
    timeout: 60_000,
  }, async () => {
    const { rig, redis } = await openFull();
    await using _ = rig;
    const jobId = await talkLong(rig);
    await fill(redis);
    expect(await rig.archiveJob(jobId, NEVER)).toBe(true);
    await rig.retentionOf(0).round(NEVER);
    expect(await rig.keysOf(jobId)).toEqual([]);
    expect(await rig.boards.job(jobId)).toMatchObject({ status: 'succeeded' });
    await expect.poll(() => redis.set('more', 'x').catch(String), WITHIN).toBe('OK');
  });

  it('gives up a whole job with journals, files and outcomes, with no byte to spare', {
    timeout: 60_000,
  }, async () => {
    const { rig, redis, job } = await openFull();
    await using _ = rig;
    await redis.config('SET', 'maxmemory', '1');
    expect(await rig.archiveJob(job.jobId, NEVER)).toBe(true);
    await rig.retentionOf(0).round(NEVER);
    expect(await rig.keysOf(job.jobId)).toEqual([]);
    expect(await rig.deleteJob(job.jobId, 'default')).toBe(true);
  });
});
