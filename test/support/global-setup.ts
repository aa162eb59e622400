import { buildPrograms } from './programs.ts';
import { startTestRedis } from './redis-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    redisUrls: string[];
    redisKind: 'server' | 'embedded';
  }
}

interface Project {
  config: { maxWorkers: number };
  provide(key: 'redisUrls', value: string[]): void;
  provide(key: 'redisKind', value: 'server' | 'embedded'): void;
}

/**
 * The programs that tests start, and the Redis of the whole run; each test takes a prefix of its own (see redis.ts). A
 * server is one for all; the embedded one does a thing at a time, and slowly, so each worker of the run has one of its own.
 */
export default async function setup(project: Project): Promise<() => Promise<void>> {
  const dropPrograms = await buildPrograms();
  const first = await startTestRedis();
  const more = first.kind === 'server' ? 0 : project.config.maxWorkers - 1;
  const all = [first, ...(await Promise.all(Array.from({ length: more }, startTestRedis)))];
  project.provide(
    'redisUrls',
    all.map(({ url }) => url),
  );
  project.provide('redisKind', first.kind);
  return async () => {
    await Promise.all(all.map((redis) => redis.stop()));
    await dropPrograms();
  };
}
