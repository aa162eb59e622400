import { startEmbeddedRedis } from '../../apps/cli/src/local/embedded-redis.ts';

/** The embedded server in a process of its own, as `crewboard up` runs it. It tells its address and ends with its parent. */
const server = await startEmbeddedRedis(0, undefined);
process.on('disconnect', () => process.exit(0));
process.send?.(server.url);
