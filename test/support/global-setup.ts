import { startTestRedis } from './redis-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    redisUrl: string;
    redisKind: 'server' | 'embedded';
  }
}

/** One Redis for the whole run; each test takes a prefix of its own (see redis.ts). */
export default async function setup(project: {
  provide(key: 'redisUrl', value: string): void;
  provide(key: 'redisKind', value: 'server' | 'embedded'): void;
}): Promise<() => Promise<void>> {
  const redis = await startTestRedis();
  project.provide('redisUrl', redis.url);
  project.provide('redisKind', redis.kind);
  return () => redis.stop();
}
