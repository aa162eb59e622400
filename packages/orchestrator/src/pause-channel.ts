import type { Boards, RedisClient } from '@crewboard/board';
import type { Redis } from 'ioredis';

const channelOf = (prefix: string) => `${prefix}:pause`;

/**
 * The same boards, but a pause is told to all workers at once: a hint for speed that may get lost, for heartbeats carry
 * the same.
 */
export function pausesPublished(boards: Boards, redis: RedisClient, prefix: string): Boards {
  return {
    ...boards,
    async pauseJob(jobId, by, cause, reason) {
      const isNew = await boards.pauseJob(jobId, by, cause, reason);
      if (isNew) await redis.publish(channelOf(prefix), jobId).catch(() => {});
      return isNew;
    },
  };
}

/** Calls `onPause` for each job that is paused by a call; `subscriber` is a connection for such news alone. */
export async function followPauses(
  subscriber: Redis,
  prefix: string,
  onPause: (jobId: string) => void,
): Promise<void> {
  subscriber.on('message', (channel: string, jobId: string) => {
    if (channel === channelOf(prefix)) onPause(jobId);
  });
  await subscriber.subscribe(channelOf(prefix));
}
