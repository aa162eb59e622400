import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { failureLog, logConnection } from '../../packages/orchestrator/src/connection-log.ts';
import { testRedisUrl } from '../support/redis.ts';
import { freePort } from '../support/redis-server.ts';

/** A log that keeps its lines. */
function keptLog() {
  const lines: { fields: object; message: string }[] = [];
  const keep = (fields: object, message: string) => void lines.push({ fields, message });
  return { lines, log: { debug: keep, info: keep, warn: keep, error: keep } };
}

/** Lets connections to `port` through to the Redis of the tests. */
async function openWay(port: number): Promise<AsyncDisposable> {
  const { hostname, port: far } = new URL(testRedisUrl());
  const open = new Set<Socket>();
  const server: Server = createServer((near) => {
    const there = connect(Number(far), hostname);
    for (const socket of [near, there]) {
      open.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => [near, there].map((one) => one.destroy()));
    }
    near.pipe(there).pipe(near);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

test('tells the same failure again only after a while, with how often it came, and another one at once', () => {
  const { lines, log } = keptLog();
  const tell = failureLog(log, 'queue connection');
  for (const why of ['refused', 'refused', 'no password', 'refused']) tell(new Error(why));
  expect(lines).toEqual([
    { fields: { err: 'refused' }, message: 'queue connection' },
    { fields: { err: 'no password' }, message: 'queue connection' },
  ]);
  const eager = keptLog();
  const tellAlways = failureLog(eager.log, 'queue connection', 0);
  for (let i = 0; i < 3; i++) tellAlways(new Error('refused'));
  expect(eager.lines.map(({ fields }) => fields)).toEqual([
    { err: 'refused' },
    { err: 'refused', times: 1 },
    { err: 'refused', times: 1 },
  ]);
});

test('forgets the oldest of more failures than it can keep apart', () => {
  const { lines, log } = keptLog();
  const tell = failureLog(log, 'queue connection');
  for (let i = 0; i <= 20; i++) tell(new Error(`failure ${i}`));
  tell(new Error('failure 20'));
  tell(new Error('failure 0'));
  expect(lines).toHaveLength(22);
});

test('a connection that is refused again and again is one line, its return another, and so the next time', async () => {
  const port = await freePort();
  const { lines, log } = keptLog();
  const { password } = new URL(testRedisUrl());
  const redis = new Redis(`redis://${password === '' ? '' : `:${password}@`}127.0.0.1:${port}`, {
    retryStrategy: () => 5,
    maxRetriesPerRequest: null,
  });
  logConnection(redis, 'boards', log);
  try {
    for (let times = 0; times < 2; times++) {
      for (let tries = 0; tries < 5; tries++) await once(redis, 'error');
      await using _way = await openWay(port);
      await once(redis, 'ready');
    }
  } finally {
    redis.disconnect();
  }
  const said = lines.map(({ fields, message }) => `${message}: ${Object.values(fields)}`);
  expect(said.filter((line) => line.includes('ECONNREFUSED'))).toHaveLength(2);
  expect(said.filter((line) => /for boards is there again: \d+$/.test(line))).toHaveLength(2);
});
