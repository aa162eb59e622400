import { asUnavailable, type Boards, type RedisClient } from '@crewboard/board';

/** A note lives so much longer than what it is about. */
const KEPT_MS = 86_400_000;

/** What the service remembers of claims beside the board. Notes run out by themselves; none is needed to be right. */
export interface ClaimNotes {
  /** The lease that a task's holder outside asked for last, in ms. */
  leaseMs(jobId: string, taskId: string): Promise<number | undefined>;
  keepLeaseMs(jobId: string, taskId: string, leaseMs: number): Promise<void>;
  /** The task that an earlier claim under this request ID got. */
  taskOf(jobId: string, requestId: string): Promise<string | undefined>;
  keepTask(jobId: string, requestId: string, taskId: string): Promise<void>;
  /** Redis' time, in ms: the one that leases go by. */
  now(): Promise<number>;
}

/** Notes on `redis`, a connection of the caller, outside the boards' own keys. */
export function claimNotes(redis: RedisClient, keys: Boards['keys']): ClaimNotes {
  const leaseKey = (jobId: string, taskId: string) => keys.global(`lease:${jobId}:${taskId}`);
  const requestKey = (jobId: string, requestId: string) => keys.global(`claim:${jobId}:${requestId}`);
  const guard = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      throw asUnavailable(error);
    }
  };
  return {
    async leaseMs(jobId, taskId) {
      const kept = await guard(redis.get(leaseKey(jobId, taskId)));
      return kept === null ? undefined : Number(kept);
    },
    async keepLeaseMs(jobId, taskId, leaseMs) {
      await guard(redis.set(leaseKey(jobId, taskId), String(leaseMs), 'PX', leaseMs + KEPT_MS));
    },
    async taskOf(jobId, requestId) {
      return (await guard(redis.get(requestKey(jobId, requestId)))) ?? undefined;
    },
    async keepTask(jobId, requestId, taskId) {
      await guard(redis.set(requestKey(jobId, requestId), taskId, 'PX', KEPT_MS));
    },
    async now() {
      const [seconds, microseconds] = await guard(redis.time());
      return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
    },
  };
}
