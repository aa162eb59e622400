import { type ConnectionWatch, watchConnections } from '@crewboard/orchestrator';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';
import { testRedisUrl } from '../support/redis.ts';
import { openSilentWire, type SilentWire } from '../support/silent-wire.ts';

const SILENCE_MS = 500;
/** Room for a machine that does much else. */
const SOON = { timeout: 20_000 };
const opened: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function openWire(): Promise<SilentWire> {
  const wire = await openSilentWire(testRedisUrl());
  opened.push(() => wire[Symbol.asyncDispose]());
  return wire;
}

function connectTo({ url }: SilentWire, options: object = {}): Redis {
  const redis = new Redis(url, { maxRetriesPerRequest: null, disconnectTimeout: 50, ...options });
  redis.on('error', () => {});
  opened.push(() => redis.disconnect());
  return redis;
}

function openWatch(): { watch: ConnectionWatch; lines: string[] } {
  const lines: string[] = [];
  const write = (fields: object, message: string) => lines.push(`${Object.values(fields)[0]}: ${message}`);
  const log = { debug: write, info: write, warn: write, error: write };
  const watch = watchConnections({ silenceMs: SILENCE_MS, log });
  opened.push(() => watch.close());
  return { watch, lines };
}

const LOST = 'one: a Redis connection does not answer: it is built anew';
const FOUND = 'one: a Redis connection answers again';

describe('a connection whose peer is gone without a word', () => {
  it('is built anew, and what waited for an answer gets it', async () => {
    const wire = await openWire();
    const redis = connectTo(wire);
    await redis.ping();
    const { watch, lines } = openWatch();
    watch.add('one', redis);
    wire.freeze('pass');
    expect(await redis.eval('return ARGV[1]', 0, 'carried over')).toBe('carried over');
    await expect.poll(() => lines, SOON).toEqual([LOST, FOUND]);
    expect(watch.trouble()).toBeUndefined();
    expect(wire.opened).toBeGreaterThan(1);
  });

  it('is trouble in one line for as long as nothing answers, with one line in the log each way', async () => {
    const wire = await openWire();
    const redis = connectTo(wire);
    await redis.ping();
    const { watch, lines } = openWatch();
    watch.add('one', redis);
    wire.freeze('silence');
    await expect
      .poll(() => watch.trouble(), SOON)
      .toMatch(/^redis: .* on the connection for one; .*rebuilt$/);
    // Tried more than once: each new connection is dead as well.
    await expect.poll(() => wire.opened, SOON).toBeGreaterThan(3);
    expect(lines).toEqual([LOST]);
    wire.mend();
    await expect.poll(() => watch.trouble(), SOON).toBeUndefined();
    expect(lines).toEqual([LOST, FOUND]);
  });

  it('goes on with its subscriptions', async () => {
    const wire = await openWire();
    const subscriber = connectTo(wire);
    const heard: string[] = [];
    subscriber.on('message', (_, message: string) => heard.push(message));
    await subscriber.subscribe('watched-news');
    const { watch, lines } = openWatch();
    watch.add('one', subscriber);
    wire.freeze('pass');
    await expect.poll(() => lines, SOON).toEqual([LOST, FOUND]);
    await connectTo(wire).publish('watched-news', 'here');
    await expect.poll(() => heard, SOON).toContain('here');
  });

  it('is noticed behind a command that blocks', async () => {
    const wire = await openWire();
    const reader = connectTo(wire);
    await reader.ping();
    const { watch, lines } = openWatch();
    watch.add('one', reader, 100);
    const read = async () => {
      for (let rounds = 0; rounds < 100 && lines.length < 2; rounds++)
        await reader.xread('BLOCK', 100, 'STREAMS', 'nothing-here', '$');
    };
    const reading = read();
    wire.freeze('pass');
    await expect.poll(() => lines, SOON).toEqual([LOST, FOUND]);
    await reading;
    expect(lines).toEqual([LOST, FOUND]);
  });
});

describe('a connection that answers', () => {
  it('is left alone when its process slept for longer than the bound', async () => {
    const redis = new Redis(testRedisUrl());
    opened.push(() => redis.disconnect());
    await redis.ping();
    const { watch, lines } = openWatch();
    // A little beyond the bound, and so far that nothing can be said.
    const longerMs = [10, 2 * SILENCE_MS];
    let asked = 0;
    watch.add('one', {
      get status() {
        return redis.status;
      },
      ping() {
        const answer = redis.ping();
        // As of a stopped process: no timer and no socket of it is served.
        Atomics.wait(
          new Int32Array(new SharedArrayBuffer(4)),
          0,
          0,
          SILENCE_MS + (longerMs[asked++ % 2] ?? 0),
        );
        return answer;
      },
      disconnect: (reconnect) => redis.disconnect(reconnect),
    });
    await expect.poll(() => asked, SOON).toBeGreaterThan(4);
    expect(lines).toEqual([]);
  });

  it('is not dropped by a watch that was closed', async () => {
    const wire = await openWire();
    const [dropped, kept] = [connectTo(wire), connectTo(wire)];
    await Promise.all([dropped.ping(), kept.ping()]);
    const [closed, open] = [openWatch(), openWatch()];
    closed.watch.add('one', kept);
    open.watch.add('one', dropped);
    wire.freeze('pass');
    closed.watch.close();
    await expect.poll(() => open.lines, SOON).toEqual([LOST, FOUND]);
    expect(closed.lines).toEqual([]);
    expect(kept.status).toBe('ready');
  });
});
