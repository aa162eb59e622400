import { readFile } from 'node:fs/promises';
import type { Redis } from 'ioredis';

const MB = 1024 * 1024;
const SCANNED_AT_ONCE = 1000;

/** The figures of one moment by name, in the order of the table; memory in MB. */
export type Sample = Readonly<Record<string, number>>;

/** The resident set of a process in MB; 0 when it is gone. */
async function rssOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024;
}

/** A number of `INFO`. */
export async function infoOf(redis: Redis, name: string): Promise<number> {
  return Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(await redis.info())?.[1] ?? 0);
}

/** How many streams there are, all their entries, and the entries of the longest one. */
async function streamsOf(redis: Redis) {
  const found = { streams: 0, entries: 0, longest: 0 };
  let cursor = '0';
  do {
    const [next, keys] = await redis.scan(cursor, 'COUNT', SCANNED_AT_ONCE, 'TYPE', 'stream');
    cursor = next;
    for (const length of await Promise.all(keys.map((key) => redis.xlen(key)))) {
      found.streams += 1;
      found.entries += length;
      found.longest = Math.max(found.longest, length);
    }
  } while (cursor !== '0');
  return found;
}

/** Reads the figures of the processes (PID by name) and of Redis. */
export async function takeSample(redis: Redis, pids: ReadonlyMap<string, number>): Promise<Sample> {
  const rss: Record<string, number> = {};
  for (const [name, pid] of pids) rss[`${name} MB`] = await rssOf(pid);
  return {
    ...rss,
    'used MB': (await infoOf(redis, 'used_memory')) / MB,
    keys: await redis.dbsize(),
    ...(await streamsOf(redis)),
  };
}
