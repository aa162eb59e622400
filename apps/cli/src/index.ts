export { type LocalRedis, type LocalRedisOptions, type RedisKind, startLocalRedis } from './local/redis.ts';
