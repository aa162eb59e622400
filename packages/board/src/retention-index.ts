import { JobId, ProjectName } from '@crewboard/contracts';
import { z } from 'zod';
import type { BoardIo } from './board-io.ts';
import { unlock } from './job-index.ts';
import { redisNow } from './redis-clock.ts';
import { evenWhenFull } from './when-full.ts';

/** As long as an Idempotency-Key is known: its repeat must not make a deleted job anew. */
const DELETED_TTL_MS = 24 * 3_600_000;
/** A write of an archive takes half a minute at 100,000 tasks; after a death another process may begin by then. */
const ARCHIVING_MS = 300_000;
/** Deletions that one look finds. */
const DELETING_COUNT = 100;

/** `*`: a job of which nothing is left that tells its project. */
const Deleting = z.object({ v: z.literal(1), project: z.union([ProjectName, z.literal('*')]) });

/** What stands outside boards about jobs that have ended: which may leave Redis, and which are being deleted. */
export function retentionIndex(io: BoardIo) {
  const ended = io.keys.global('ended');
  const deleting = io.keys.global('deleting');
  const deleted = (jobId: string) => io.keys.global(`deleted:${jobId}`);
  const archiving = (jobId: string) => io.keys.global(`archiving:${jobId}`);

  return {
    /** Notes that an ended job has an archive. `endedAt` in ms. */
    async addEnded(jobId: string, endedAt: number): Promise<void> {
      await io.guard(() => evenWhenFull(io.redis, 'ZADD', ended, endedAt, jobId));
    },
    /** It runs again, or has left Redis. */
    async removeEnded(jobId: string): Promise<void> {
      await io.guard(() => io.redis.zrem(ended, jobId));
    },
    /** True while an archived job waits in Redis for its time. */
    async isEndedListed(jobId: string): Promise<boolean> {
      return (await io.guard(() => io.redis.zscore(ended, jobId))) !== null;
    },
    /** Archived jobs that ended at least so long ago by Redis' clock, the oldest first, without the first `skip`. */
    async endedFor(leastMs: number, skip: number, limit: number): Promise<string[]> {
      const until = (await redisNow(io)) - leastMs;
      return io.guard(() => io.redis.zrangebyscore(ended, '-inf', until, 'LIMIT', skip, limit));
    },
    /** True when `at`, a time of Redis' clock in ms, is at least `leastMs` ago by it. */
    isPast: async (at: number, leastMs: number): Promise<boolean> => (await redisNow(io)) - at >= leastMs,

    /** True for the one process that may write the job's archive now: only so that not all of them do the same work. */
    async lockArchive(jobId: string, token: string): Promise<boolean> {
      const locked = await io.guard(() =>
        evenWhenFull(io.redis, 'SET', archiving(jobId), token, 'PX', ARCHIVING_MS, 'NX'),
      );
      return locked !== null;
    },
    /** Gives the lock back if it is still this process'. */
    async unlockArchive(jobId: string, token: string): Promise<void> {
      await unlock(io, archiving(jobId), token);
    },

    /** Notes that a job is to be deleted, before anything of it goes; `project` may be `*` when it is not known. */
    async beginDeleting(jobId: string, project: string): Promise<void> {
      await io.guard(() =>
        evenWhenFull(io.redis, 'HSET', deleting, jobId, JSON.stringify({ v: 1, project })),
      );
    },
    /** The project of a job that is being deleted, `*` when it was not known. */
    async deletingProject(jobId: string): Promise<string | undefined> {
      const stored = await io.guard(() => io.redis.hget(deleting, jobId));
      return stored === null ? undefined : Deleting.parse(JSON.parse(stored)).project;
    },
    /** Some jobs whose deletion has begun. */
    async deletions(): Promise<{ jobId: string; project: string }[]> {
      const [, fields] = await io.guard(() => io.redis.hscan(deleting, '0', 'COUNT', DELETING_COUNT));
      return Array.from({ length: fields.length / 2 }, (_, i) => ({
        jobId: JobId.parse(fields[i * 2]),
        project: Deleting.parse(JSON.parse(fields[i * 2 + 1] ?? '')).project,
      }));
    },
    /** The job has not ended after all: it stays. */
    async forgetDeleting(jobId: string): Promise<void> {
      await io.guard(() => io.redis.hdel(deleting, jobId));
    },
    /** Everything of the job is gone. */
    async endDeleting(jobId: string): Promise<void> {
      await io.guard(() => evenWhenFull(io.redis, 'SET', deleted(jobId), '1', 'PX', DELETED_TTL_MS));
      await io.guard(() => io.redis.hdel(deleting, jobId));
    },
    /** True for a day after a job was deleted, and while it is. */
    async wasDeleted(jobId: string): Promise<boolean> {
      // In this order: the second note is made before the first one goes.
      if ((await io.guard(() => io.redis.hexists(deleting, jobId))) === 1) return true;
      return (await io.guard(() => io.redis.exists(deleted(jobId)))) === 1;
    },
  };
}
