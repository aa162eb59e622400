import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { EventList } from '@crewboard/contracts';
import { expect, test } from 'vitest';
import { AS_ADMIN, type OpenApp, openApp } from './open-app.ts';
import { anEvent, JOB_ID, NO_JOB_ID } from './records.ts';

const END = { type: 'job.succeeded' } as const;

function open(app: OpenApp, query = '', headers: Record<string, string> = {}, signal?: AbortSignal) {
  return fetch(`${app.url}/v1/jobs/${JOB_ID}/events${query}`, {
    headers: { ...AS_ADMIN, ...headers },
    ...(signal === undefined ? {} : { signal }),
  });
}

/** The IDs of a finished stream's messages. */
const idsOf = (text: string) => [...text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id);

/** Reads `answer` until `text` has come. */
async function readUntil(answer: Response, text: string): Promise<string> {
  let read = '';
  const reader = answer.body?.getReader();
  while (!read.includes(text)) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done) throw new Error(`the stream ended before ${JSON.stringify(text)}: ${read}`);
    read += new TextDecoder().decode(value);
  }
  reader?.releaseLock();
  return read;
}

test('replays from the start, follows live and ends after the terminal event', async () => {
  await using app = await openApp();
  app.fake.append(anEvent(1));
  const answer = await open(app);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toMatch(/^text\/event-stream/);
  expect(answer.headers.get('x-accel-buffering')).toBe('no');
  expect(answer.headers.get('cache-control')).toBe('no-cache, no-transform');
  expect(answer.headers.get('content-encoding')).toBeNull();
  await app.fake.followersAre(1);
  app.fake.append(anEvent(2));
  app.fake.append(anEvent(3, END));
  const text = await answer.text();
  expect(idsOf(text)).toEqual(['1-0', '2-0', '3-0']);
  expect(text).toContain(`event: job.succeeded\nid: 3-0\ndata: ${JSON.stringify(anEvent(3, END))}\n\n`);
  await app.fake.followersAre(0);
});

test('the headers go out before the first event', async () => {
  await using app = await openApp();
  const gone = new AbortController();
  const answer = await open(app, '?after=now', {}, gone.signal);
  expect(answer.status).toBe(200);
  gone.abort();
  await app.fake.followersAre(0);
});

test.each([
  ['Last-Event-ID', '', { 'last-event-id': '2-0' }],
  ['after', '?after=2-0', {}],
  ['Last-Event-ID rather than after', '?after=1-0', { 'last-event-id': '2-0' }],
])('goes on from %s', async (_, query, headers) => {
  await using app = await openApp();
  for (const n of [1, 2, 3]) app.fake.append(anEvent(n));
  const answer = await open(app, query, headers);
  app.fake.append(anEvent(4, END));
  expect(idsOf(await answer.text())).toEqual(['3-0', '4-0']);
});

test('after=now is live only', async () => {
  await using app = await openApp();
  app.fake.append(anEvent(1));
  const answer = await open(app, '?after=now');
  await app.fake.followersAre(1);
  app.fake.append(anEvent(2, END));
  expect(idsOf(await answer.text())).toEqual(['2-0']);
});

test('an ID that is not in the log brings one resync, then what follows', async () => {
  await using app = await openApp();
  app.fake.append(anEvent(7));
  const answer = await open(app, '', { 'last-event-id': '1-0' });
  await readUntil(answer, 'resync').then((text) =>
    expect(text).toContain('event: resync\nid: 7-0\ndata: {"asOf":"7-0"}\n\n'),
  );
  app.fake.append(anEvent(8, END));
  expect(await readUntil(answer, '8-0')).not.toContain('7-0');
});

test.each([
  ['?after=soon', {}],
  ['?after=', {}],
  ['?after=1-0&limit=5', {}],
  ['?since=1-0', {}],
  ['', { 'last-event-id': 'abc' }],
  ['', { 'last-event-id': '1-0-0' }],
])('refuses %s %j', async (query, headers) => {
  await using app = await openApp();
  const answer = await open(app, query, headers);
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ code: 'invalid_argument' });
});

test('is 204 when the job is ended and its last event known', async () => {
  await using app = await openApp();
  app.fake.append(anEvent(1));
  app.fake.append(anEvent(2, END));
  expect((await open(app, '', { 'last-event-id': '2-0' })).status).toBe(204);
  expect((await open(app, '', { 'last-event-id': '1-0' })).status).toBe(200);
});

test('events of a job that is not there are 404', async () => {
  await using app = await openApp();
  const answer = await fetch(`${app.url}/v1/jobs/${NO_JOB_ID}/events`, { headers: AS_ADMIN });
  expect(answer.status).toBe(404);
});

test('Accept: application/json lists pages of the same log', async () => {
  await using app = await openApp();
  for (const n of [1, 2, 3, 4]) app.fake.append(anEvent(n));
  const answer = await open(app, '?after=1-0&limit=2', { accept: 'application/json' });
  expect(EventList.parse(await answer.json()).events.map(({ id }) => id)).toEqual(['2-0', '3-0']);
  const live = await open(app, '?after=now', { accept: 'application/json' });
  expect(live.status).toBe(400);
});

test('a quiet stream carries comments', async () => {
  await using app = await openApp({ sseCommentMs: 5 });
  const gone = new AbortController();
  const answer = await open(app, '?after=now', {}, gone.signal);
  expect(await readUntil(answer, ': still here\n\n: still here\n\n')).not.toContain('data:');
  gone.abort();
});

test('a client that goes ends its follower', async () => {
  await using app = await openApp();
  const gone = new AbortController();
  await open(app, '', {}, gone.signal);
  await app.fake.followersAre(1);
  gone.abort();
  await app.fake.followersAre(0);
});

test('closing the server ends all streams', async () => {
  await using app = await openApp();
  const answers = await Promise.all([open(app), open(app, '?after=now'), open(app)]);
  await app.fake.followersAre(3);
  await Promise.all([app.close(), ...answers.map((answer) => answer.text())]);
  await app.fake.followersAre(0);
});

const LONG = 'x'.repeat(16_384);
const BACKLOG = 2000;

/** Reads `answer` until `text` has come, keeping no more of it than that takes. */
async function skipUntil(answer: Response, text: string): Promise<void> {
  let tail = '';
  for await (const bytes of answer.body ?? []) {
    tail = tail.slice(-text.length) + Buffer.from(bytes).toString('latin1');
    if (tail.includes(text)) return;
  }
  throw new Error(`the stream ended before ${text}`);
}

/** The last whole event of a stream that may be cut at any time; `known` when none came. */
async function lastBeforeCut(answer: Response, known: string): Promise<string> {
  let tail = '';
  let last = known;
  try {
    for await (const bytes of answer.body ?? []) {
      tail = tail.slice(-40) + Buffer.from(bytes).toString('latin1');
      last = [...tail.matchAll(/^id: (\d+-0)\n/gm)].at(-1)?.[1] ?? last;
      if (last === `${BACKLOG}-0`) break;
    }
  } catch {
    // It was cut.
  }
  return last;
}

/** Opens the stream over a socket that reads nothing after the first bytes. */
async function openStalled(app: OpenApp): Promise<Socket> {
  const socket = connect(app.port, '127.0.0.1');
  socket.write(
    `GET /v1/jobs/${JOB_ID}/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${AS_ADMIN.authorization}\r\n\r\n`,
  );
  await once(socket, 'data');
  socket.pause();
  return socket;
}

test('a reader that does not read holds the follower back, and closing does not wait for it', async () => {
  await using app = await openApp();
  for (let n = 1; n <= BACKLOG; n++) app.fake.append(anEvent(n, { data: { text: LONG } }));
  const socket = await openStalled(app);
  // A second, reading client gets all of the log: when it has, the stalled one had its chance as well.
  await skipUntil(await open(app), `id: ${BACKLOG}-0\n`);
  await app.fake.followersAre(1);
  expect(app.fake.taken).toBeLessThan(2 * BACKLOG - 500);
  await app.close();
  await app.fake.followersAre(0);
  socket.destroy();
});

test('a reader that takes nothing is cut off in the end, and goes on from where it was', async () => {
  await using app = await openApp({ streamBounds: { most: 10, mostOfKey: 10, stuckMs: 50 } });
  for (let n = 1; n <= BACKLOG; n++) app.fake.append(anEvent(n, { data: { text: LONG } }));
  const socket = await openStalled(app);
  await app.fake.followersAre(1);
  await app.fake.followersAre(0);
  expect(app.fake.taken).toBeLessThan(BACKLOG - 500);
  socket.destroy();
  // On a busy machine a reader that does read may seem to take nothing for so short a time, and is cut as well.
  let last = '1-0';
  for (let tries = 0; tries < 100 && last !== `${BACKLOG}-0`; tries++) {
    last = await lastBeforeCut(await open(app, '', { 'last-event-id': last }), last);
  }
  expect(last).toBe(`${BACKLOG}-0`);
});

test.each([
  ['in all', 2, 9],
  ['of one key', 9, 2],
])(
  'a stream more than there may be %s is refused, and taken once another one has ended',
  async (_, most, mostOfKey) => {
    await using app = await openApp({ streamBounds: { most, mostOfKey, stuckMs: 60_000 } });
    const gone = new AbortController();
    await open(app, '', {}, gone.signal);
    await open(app);
    const refused = await open(app);
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ code: 'rate_limited', retry: 'later', retryAfterMs: 5000 });
    expect(refused.headers.get('retry-after')).toBe('5');
    await app.fake.followersAre(2);
    gone.abort();
    await app.fake.followersAre(1);
    expect((await open(app)).status).toBe(200);
  },
);
