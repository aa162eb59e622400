import type { Redis } from 'ioredis';

const SAMPLE_MS = 20;
const MB = 1024 * 1024;

export const megabytes = (bytes: number) => `${(bytes / MB).toFixed(1)} MB`;

/** The largest resident set of this process from now on, sampled. */
export function watchRss() {
  let most = process.memoryUsage.rss();
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, SAMPLE_MS);
  return {
    /** The largest of the phase that ends here. */
    take() {
      const taken = Math.max(most, process.memoryUsage.rss());
      most = process.memoryUsage.rss();
      return taken;
    },
    stop: () => clearInterval(timer),
  };
}

/** What Redis has allocated, in bytes: now, or the most since its start. */
export async function usedMemory(redis: Redis, which: 'used_memory' | 'used_memory_peak' = 'used_memory') {
  const info = await redis.info('memory');
  return Number(new RegExp(`^${which}:(\\d+)`, 'm').exec(info)?.[1]);
}
