import type { RedisClient } from '@crewboard/board';
import type { Redis } from 'ioredis';

const channelOf = (prefix: string) => `${prefix}:cancel`;

/** Tells workers what is being cancelled: a whole job, or one of its tasks. */
export type PublishCancel = (jobId: string, taskId?: string) => Promise<void>;

/** The news of cancels over pub/sub: a hint for speed that may get lost, for heartbeats carry the same. Never throws. */
export function cancelPublisher(redis: RedisClient, prefix: string): PublishCancel {
  return async (jobId, taskId) => {
    const message = taskId === undefined ? jobId : `${jobId}/${taskId}`;
    await redis.publish(channelOf(prefix), message).catch(() => {});
  };
}

/** Calls `onCancel` for each job or task that is being cancelled; `subscriber` is a connection for this alone. */
export async function followCancels(
  subscriber: Redis,
  prefix: string,
  onCancel: (jobId: string, taskId: string | undefined) => void,
): Promise<void> {
  subscriber.on('message', (channel: string, message: string) => {
    const [jobId, taskId] = message.split('/');
    if (channel === channelOf(prefix) && jobId !== undefined) onCancel(jobId, taskId);
  });
  await subscriber.subscribe(channelOf(prefix));
}
