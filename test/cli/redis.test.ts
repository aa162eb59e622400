import { stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { Redis } from 'ioredis';
import { expect, inject, test } from 'vitest';
import { type LocalRedis, startLocalRedis } from '../../apps/cli/src/index.ts';
import { readState, writeState } from '../../apps/cli/src/local/data-folder.ts';
import { readProcess } from '../../apps/cli/src/local/parents.ts';
import { RedisState } from '../../apps/cli/src/local/redis-state.ts';
import { openTestFolder } from './support/folder.ts';
import { untilGone } from './support/processes.ts';

const hasServer = inject('redisKind') === 'server';
const GRACE = { graceMs: 10_000 };

const portOf = (url: string) => Number(new URL(url).port);

/** What a client without a password is told. */
async function askWithoutPassword({ url }: LocalRedis): Promise<string> {
  const bare = new URL(url);
  bare.password = '';
  const redis = new Redis(bare.href, { maxRetriesPerRequest: 0, enableReadyCheck: false });
  redis.on('error', () => {});
  return redis
    .get('key')
    .then(String, (error: Error) => error.message)
    .finally(() => redis.disconnect());
}

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
    const port = portOf(redis.url);
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
  await writeState(`${other.path}/redis.json`, { port: portOf(before.url) });
  const stranger = await startLocalRedis({ dir: other.path, kind: 'server' });
  const redis = await startLocalRedis({ dir: mine.path, kind: 'server' });
  try {
    expect(portOf(stranger.url)).toBe(portOf(before.url));
    expect(redis.adopted).toBe(false);
    expect(portOf(redis.url)).not.toBe(portOf(stranger.url));
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

test.each([{ kind: 'embedded' as const }, ...(hasServer ? [{ kind: 'server' as const }] : [])])(
  'answers only with the password: $kind',
  async ({ kind }) => {
    await using folder = await openTestFolder();
    const redis = await startLocalRedis({ dir: folder.path, kind });
    try {
      expect(await askWithoutPassword(redis)).toContain('NOAUTH');
      expect(await withClient(redis, (client) => client.get('key'))).toBeNull();
    } finally {
      await redis.stop(GRACE);
    }
  },
);

test.runIf(hasServer)('keeps the password in a file for its owner, and off the command line', async () => {
  await using folder = await openTestFolder();
  const redis = await startLocalRedis({ dir: folder.path, kind: 'server' });
  try {
    const file = `${folder.path}/redis.json`;
    const { password = '' } = (await readState(file, RedisState)) ?? {};
    expect(password.length).toBeGreaterThanOrEqual(20);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await readProcess(redis.pid))?.command).toContain('redis-server');
    expect((await readProcess(redis.pid))?.command).not.toContain(password);
  } finally {
    await redis.stop(GRACE);
  }
});

test.runIf(hasServer)('gives a left-over server of an earlier version a password', async () => {
  await using folder = await openTestFolder();
  const leftOver = await startLocalRedis({ dir: folder.path, kind: 'server' });
  await withClient(leftOver, (client) => client.config('SET', 'requirepass', ''));
  await writeState(`${folder.path}/redis.json`, { port: portOf(leftOver.url) });
  expect(await askWithoutPassword(leftOver)).toBe('null');
  const adopted = await startLocalRedis({ dir: folder.path, kind: 'server' });
  try {
    expect(adopted).toMatchObject({ adopted: true, pid: leftOver.pid });
    expect(await askWithoutPassword(adopted)).toContain('NOAUTH');
    expect(await withClient(adopted, (client) => client.ping())).toBe('PONG');
  } finally {
    await adopted.stop(GRACE);
    await leftOver.ended;
  }
});
