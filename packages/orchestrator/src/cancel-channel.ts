import type { RedisClient } from '@crewboard/board';
import type { Redis } from 'ioredis';

const channelOf = (prefix: string) => `${prefix}:cancel`;

/** Tells every process that a job is being cancelled. A hint for speed: heartbeats carry the same news. */
export async function publishCancel(redis: RedisClient, prefix: string, jobId: string): Promise<void> {
  await redis.publish(channelOf(prefix), jobId);
}

/** Calls `onCancel` for each job that is being cancelled; `subscriber` is a connection for this alone. */
export async function followCancels(
  subscriber: Redis,
  prefix: string,
  onCancel: (jobId: string) => void,
): Promise<void> {
  subscriber.on('message', (channel: string, jobId: string) => {
    if (channel === channelOf(prefix)) onCancel(jobId);
  });
  await subscriber.subscribe(channelOf(prefix));
}
