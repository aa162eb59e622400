import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { Redis } from 'ioredis';
import { expect, inject, test } from 'vitest';
import { type LocalRedis, startLocalRedis } from '../../apps/cli/src/index.ts';
import { openTestFolder } from './support/folder.ts';
import { untilGone } from './support/processes.ts';

const hasServer = inject('redisKind') === 'server';
const GRACE = { graceMs: 10_000 };

async function withClient<T>({ url }: LocalRedis, use: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url, { maxRetriesPerRequest: 3 });
  try {
    return await use(redis);
  } finally {
    redis.disconnect();
  }
}

/** How a TCP connection to `host` ends: "connected", or the system's error code. */
function dial(host: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host, port }, () => {
      socket.destroy();
      resolve('connected');
    });
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
}

const outside = Object.values(networkInterfaces())
  .flat()
  .find((address) => address !== undefined && !address.internal && address.family === 'IPv4')?.address;

test('the embedded server listens on the loopback address only', async () => {
  await using folder = await openTestFolder();
  const redis = await startLocalRedis({ dir: folder.path, kind: 'embedded' });
  try {
    const port = Number(new URL(redis.url).port);
    expect(redis.kind).toBe('embedded');
    expect(await withClient(redis, (client) => client.set('key', 'value'))).toBe('OK');
    expect(await dial('127.0.0.1', port)).toBe('connected');
    // 127.0.0.2 reaches a server on all interfaces, and only such a one.
    expect(await dial('127.0.0.2', port)).toBe('ECONNREFUSED');
    expect(await dial('::1', port)).not.toBe('connected');
    if (outside !== undefined) expect(await dial(outside, port)).toBe('ECONNREFUSED');
  } finally {
    await redis.stop(GRACE);
  }
  await untilGone(redis.pid);
});

test('uses the embedded server when there is no server on PATH', async () => {
  await using folder = await openTestFolder();
  const redis = await startLocalRedis({ dir: folder.path, variables: { PATH: folder.path } });
  await redis.stop(GRACE);
  expect(redis.kind).toBe('embedded');
});

test('refuses to start a server that is not on PATH when one is demanded', async () => {
  await using folder = await openTestFolder();
  await expect(
    startLocalRedis({ dir: folder.path, kind: 'server', variables: { PATH: folder.path } }),
  ).rejects.toThrow('no redis-server or valkey-server on PATH');
});

test.runIf(hasServer)('keeps data over a stop, and never evicts', async () => {
  await using folder = await openTestFolder();
  const first = await startLocalRedis({ dir: folder.path, kind: 'server' });
  await withClient(first, async (client) => {
    await client.set('key', 'value');
    expect(await client.config('GET', 'maxmemory-policy')).toEqual(['maxmemory-policy', 'noeviction']);
    expect(await client.config('GET', 'appendfsync')).toEqual(['appendfsync', 'everysec']);
  });
  await first.stop(GRACE);
  await untilGone(first.pid);

  const second = await startLocalRedis({ dir: folder.path, kind: 'server' });
  try {
    expect(await withClient(second, (client) => client.get('key'))).toBe('value');
    expect(second.adopted).toBe(false);
  } finally {
    await second.stop(GRACE);
  }
});

test.runIf(hasServer)('takes over a server that is still running on the folder', async () => {
  await using folder = await openTestFolder();
  const leftOver = await startLocalRedis({ dir: folder.path, kind: 'server' });
  const adopted = await startLocalRedis({ dir: folder.path, kind: 'server' });
  expect(adopted).toMatchObject({ adopted: true, pid: leftOver.pid, url: leftOver.url });
  await adopted.stop(GRACE);
  expect(await leftOver.ended).toMatchObject({ reason: 'exit code 0' });
  expect(await adopted.ended).toMatchObject({ reason: 'it is gone' });
});

test.runIf(hasServer)('takes another port when its own is used by a Redis of another folder', async () => {
  await using mine = await openTestFolder();
  await using other = await openTestFolder();
  const before = await startLocalRedis({ dir: mine.path, kind: 'server' });
  await before.stop(GRACE);
  const { writeState } = await import('../../apps/cli/src/local/data-folder.ts');
  await writeState(`${other.path}/redis.json`, { port: Number(new URL(before.url).port) });
  const stranger = await startLocalRedis({ dir: other.path, kind: 'server' });
  const redis = await startLocalRedis({ dir: mine.path, kind: 'server' });
  try {
    expect(stranger.url).toBe(before.url);
    expect(redis.adopted).toBe(false);
    expect(redis.url).not.toBe(stranger.url);
  } finally {
    await redis.stop(GRACE);
    await stranger.stop(GRACE);
  }
});

test.runIf(hasServer)('kills a server that hangs when the time is up', async () => {
  await using folder = await openTestFolder();
  const redis = await startLocalRedis({ dir: folder.path, kind: 'server' });
  process.kill(redis.pid, 'SIGSTOP');
  await redis.stop({ graceMs: 100 });
  expect(await redis.ended).toMatchObject({ reason: 'signal SIGKILL' });
});
