import { CrewboardError, JobId, shownLine } from '@crewboard/contracts';
import { z } from 'zod';
import type { BoardIo } from './board-io.ts';
import { redisNow } from './redis-clock.ts';

const IDEMPOTENCY_TTL_MS = 24 * 3_600_000;
/** Renewed while its request lives: repeats of one that died wait no longer than this. */
export const SUBMIT_LOCK_MS = 10_000;
const Stored = z.object({ v: z.literal(1), hash: z.string(), jobId: JobId });

/** Gives a lock back if `token` still holds it. */
export async function unlock(io: BoardIo, key: string, token: string): Promise<void> {
  const mine = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";
  await io.guard(() => io.redis.eval(mine, 1, key, token));
}

/** What stands outside boards, below the one prefix: which jobs there are, and idempotency keys. */
export function jobIndex(io: BoardIo) {
  const live = io.keys.global('live');
  const jobsOf = (project: string) => io.keys.global(`jobs:${project}`);
  const submitting = (jobId: string) => io.keys.global(`submitting:${jobId}`);
  const idempotency = (project: string, key: string) => io.keys.global(`idempotency:${project}:${key}`);

  return {
    /** Lists a job as live: the sweeper looks after it from now on, flipped or not. */
    async addLive(jobId: string): Promise<void> {
      const now = await redisNow(io);
      await io.guard(() => io.redis.zadd(live, 'NX', String(now), jobId));
    },
    /**
     * Takes a job off the list; the caller looks again afterwards, for it may have come to life meanwhile. True for the
     * one call that took it off.
     */
    async removeLive(jobId: string): Promise<boolean> {
      return (await io.guard(() => io.redis.zrem(live, jobId))) === 1;
    },
    /** True while the sweeper looks after the job. */
    async isLive(jobId: string): Promise<boolean> {
      return (await io.guard(() => io.redis.zscore(live, jobId))) !== null;
    },
    /** How long a job has been listed, in ms. */
    async liveSince(jobId: string): Promise<number> {
      const score = await io.guard(() => io.redis.zscore(live, jobId));
      return score === null ? 0 : (await redisNow(io)) - Number(score);
    },
    /** All live jobs, the oldest first. */
    async liveJobs(): Promise<string[]> {
      return io.guard(() => io.redis.zrange(live, 0, '-1'));
    },

    /** Lists a job below its project and below all, by the time of its submission. */
    async list(jobId: string, project: string, createdAt: number): Promise<void> {
      await io.guard(() => io.redis.zadd(jobsOf(project), String(createdAt), jobId));
      await io.guard(() => io.redis.zadd(jobsOf('*'), String(createdAt), jobId));
    },
    async unlist(jobId: string, project: string): Promise<void> {
      await io.guard(() => io.redis.zrem(jobsOf(project), jobId));
      await io.guard(() => io.redis.zrem(jobsOf('*'), jobId));
    },
    /** True when the job is listed below its `project`; below `*`, all are. */
    async isListed(project: string, jobId: string): Promise<boolean> {
      return (await io.guard(() => io.redis.zscore(jobsOf(project), jobId))) !== null;
    },
    /**
     * Job IDs of a project (`*`: of all), the newest first, after the job `cursor` (exclusive), at most `limit`.
     * Jobs of one millisecond stand in the order of their IDs, so a page never skips one. Throws `invalid_argument`
     * when `cursor` is no job of the list: a page from the start in its place would make a caller's loop endless.
     */
    async listed(project: string, limit: number, cursor?: string): Promise<string[]> {
      const key = jobsOf(project);
      const rank = cursor === undefined ? -1 : await io.guard(() => io.redis.zrevrank(key, cursor));
      if (rank === null) {
        throw new CrewboardError(
          'invalid_argument',
          `cursor must be a nextCursor of this list, got "${shownLine(cursor ?? '', 100)}".`,
          { path: 'cursor' },
        );
      }
      const from = rank + 1;
      return io.guard(() => io.redis.zrevrange(key, from, from + limit - 1));
    },

    /**
     * Binds an Idempotency-Key to a body's hash and a new job ID. Returns what the key is bound to: that, or what an
     * earlier request bound.
     */
    async bindIdempotencyKey(project: string, key: string, hash: string, jobId: string) {
      const name = idempotency(project, key);
      const value = JSON.stringify({ v: 1, hash, jobId });
      const isNew = await io.guard(() => io.redis.set(name, value, 'PX', IDEMPOTENCY_TTL_MS, 'NX'));
      const held = isNew === null ? await io.guard(() => io.redis.get(name)) : null;
      if (held === null) return { hash, jobId, isNew: true };
      return { ...Stored.parse(JSON.parse(held)), isNew: false };
    },
    /** What an Idempotency-Key is bound to, if it is. */
    async boundTo(project: string, key: string): Promise<{ hash: string; jobId: string } | undefined> {
      const held = await io.guard(() => io.redis.get(idempotency(project, key)));
      return held === null ? undefined : Stored.parse(JSON.parse(held));
    },
    /**
     * True for the one request that may fill the board of a job now. The lock runs out after `SUBMIT_LOCK_MS` unless
     * it is renewed; who takes it then shuts the first one out by the fill token.
     */
    async lockSubmit(jobId: string, token: string): Promise<boolean> {
      return (
        (await io.guard(() => io.redis.set(submitting(jobId), token, 'PX', SUBMIT_LOCK_MS, 'NX'))) !== null
      );
    },
    /** Makes the lock last from now, if it is still this request's. */
    async renewSubmit(jobId: string, token: string): Promise<void> {
      const mine =
        "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0";
      await io.guard(() => io.redis.eval(mine, 1, submitting(jobId), token, SUBMIT_LOCK_MS));
    },
    /** Gives the lock back if it is still this request's. */
    async unlockSubmit(jobId: string, token: string): Promise<void> {
      await unlock(io, submitting(jobId), token);
    },
  };
}
