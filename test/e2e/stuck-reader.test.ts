import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createClient } from '@crewboard/client';
import { expect, test } from 'vitest';
import { ADMIN_KEY, bearer } from '../api/open-app.ts';
import { openRealApp, type RealApp } from '../api/open-real-app.ts';

const READERS = 8;
const BATCHES = 20;
const BATCH = 250;
const TEXT = 'n'.repeat(2000);
/** Of 10 MB of events a reader that takes nothing may hold a page; the rest is the noise of this process. */
const HELD_MOST_BYTES = 4_000_000;

async function heldBytes(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  // What was just handed on is let go of a turn later; and the first round only finds what is weakly held.
  await nextTurn();
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Adds notes to the log as a busy board would. */
async function addNotes(
  { board: { boards, store } }: RealApp,
  jobId: string,
  taskId: string,
): Promise<string> {
  const pipeline = store.redis.pipeline();
  const fields = [
    't',
    'task.noted',
    'k',
    taskId,
    'a',
    '1',
    'b',
    'user:ann',
    's',
    'pending',
    'n',
    '1',
    'o',
    '',
  ];
  for (let i = 0; i < BATCH; i++)
    pipeline.xadd(boards.keys.board(jobId, 'events'), '*', ...fields, 'x', JSON.stringify({ text: TEXT }));
  const added = await pipeline.exec();
  return String(added?.at(-1)?.[1]);
}

async function openStuck({ url }: RealApp, jobId: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const { authorization } = bearer(ADMIN_KEY);
  socket.write(
    `GET /v1/jobs/${jobId}/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\n\r\n`,
  );
  await once(socket, 'data');
  socket.pause();
  return socket;
}

/** Counts what one reader is told, and tells when it has got to an event. */
function follow(app: RealApp, jobId: string) {
  const client = createClient({ baseUrl: app.url, apiKey: ADMIN_KEY });
  const leaving = new AbortController();
  let seen = 0;
  let last = '';
  let look = () => {};
  const done = (async () => {
    for await (const { id } of client.jobs.events(jobId, { signal: leaving.signal })) {
      seen += 1;
      last = id;
      look();
    }
  })();
  return {
    seen: () => seen,
    reached: (id: string) =>
      new Promise<void>((resolve) => {
        look = () => last === id && resolve();
        look();
      }),
    async leave() {
      leaving.abort();
      await done;
    },
  };
}

test('one reader that never reads holds up no other one and no memory while thousands of events go by', async () => {
  await using app = await openRealApp();
  const { jobId, ids } = await app.board.job([{ key: 'a', title: 'A', executor: 'external' }]);
  const socket = await openStuck(app, jobId);
  const readers = Array.from({ length: READERS }, () => follow(app, jobId));
  const first = await addNotes(app, jobId, ids.a ?? '');
  await Promise.all(readers.map((reader) => reader.reached(first)));
  const before = await heldBytes();
  for (let i = 1; i < BATCHES; i++) {
    const last = await addNotes(app, jobId, ids.a ?? '');
    await Promise.all(readers.map((reader) => reader.reached(last)));
  }
  expect((await heldBytes()) - before).toBeLessThan(HELD_MOST_BYTES);
  const log = await app.board.boards.events(jobId, '0-0', BATCH * BATCHES + 100);
  expect(readers.map((reader) => reader.seen())).toEqual(readers.map(() => log.length));
  await Promise.all(readers.map((reader) => reader.leave()));

  // It was only late: once it reads, it is sent all that it has missed.
  const newest = log.at(-1)?.id ?? '';
  let tail = '';
  socket.on('data', (bytes) => {
    tail = tail.slice(-newest.length) + bytes.toString('latin1');
    if (tail.includes(newest)) socket.destroy();
  });
  socket.resume();
  await once(socket, 'close');
  expect(tail).toContain(newest);
});
