import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { startService } from './service-process.ts';

export interface RunningRedis {
  url: string;
  kind: 'server' | 'embedded';
  stop(): Promise<void>;
}

/** Returns a TCP port of 127.0.0.1 that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

async function untilAnswers(port: number, child: ChildProcess): Promise<void> {
  const redis = new Redis(port, '127.0.0.1', { retryStrategy: () => 20, maxRetriesPerRequest: 500 });
  redis.on('error', () => {});
  const exited = new Promise<never>((_, reject) => {
    child.once('exit', (code) => reject(new Error(`redis-server ended with ${code}`)));
    child.once('error', reject);
  });
  await Promise.race([redis.ping(), exited]).finally(() => redis.disconnect());
}

/**
 * Starts the Redis of a test run: `redis-server` from PATH, or the embedded server when there is none or
 * when CREWBOARD_TEST_REDIS=embedded.
 */
export async function startTestRedis(): Promise<RunningRedis> {
  // biome-ignore lint/style/noProcessEnv: the one switch of the test run itself
  if (process.env.CREWBOARD_TEST_REDIS === 'embedded') return startEmbedded();
  const dir = await mkdtemp(join(tmpdir(), 'crewboard-test-redis-'));
  const port = await freePort();
  const child = spawn(
    'redis-server',
    [
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--dir',
      dir,
      '--save',
      '',
      '--maxmemory-policy',
      'noeviction',
    ],
    { stdio: 'ignore' },
  );
  try {
    await untilAnswers(port, child);
  } catch {
    await rm(dir, { recursive: true, force: true });
    return startEmbedded();
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    kind: 'server',
    async stop() {
      const exited = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await exited;
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** The embedded server as `crewboard up` runs it: in a process of its own, with a password. */
async function startEmbedded(): Promise<RunningRedis> {
  const variables = { REDIS_URL: `redis://:${randomUUID()}@127.0.0.1:0` };
  const { url, kill } = await startService('embedded-redis', variables, tmpdir());
  if (url === undefined) throw new Error('the embedded server has no address');
  return { url, kind: 'embedded', stop: kill };
}
