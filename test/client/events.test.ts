import type { ServerResponse } from 'node:http';
import { createClient } from '@crewboard/client';
import type { BoardEvent } from '@crewboard/contracts';
import { expect, test } from 'vitest';
import { ADMIN_KEY, openApp } from '../api/open-app.ts';
import { anEvent, JOB_ID, NO_JOB_ID } from '../api/records.ts';
import { type Act, type Seen, scriptedServer } from './scripted-server.ts';

const END = { type: 'job.succeeded' } as const;
const reconnect = { tries: 5, baseMs: 1, maxMs: 5 };

const clientOf = ({ url }: { url: string }) => createClient({ baseUrl: url, apiKey: ADMIN_KEY, reconnect });

async function idsOf(events: AsyncIterable<BoardEvent>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of events) ids.push(id);
  return ids;
}

const message = (event: BoardEvent) =>
  `event: ${event.type}\nid: ${event.id}\ndata: ${JSON.stringify(event)}\n\n`;

const lastEventIds = ({ requests }: { requests: readonly Seen[] }) =>
  requests.map(({ headers }) => headers['last-event-id']);
const streaming = (answer: ServerResponse) => answer.writeHead(200, { 'content-type': 'text/event-stream' });
const ends =
  (...events: BoardEvent[]): Act =>
  (answer) =>
    streaming(answer).end(events.map(message).join(''));
const breaks =
  (...events: BoardEvent[]): Act =>
  (answer) => {
    streaming(answer).write(events.map(message).join(''), () => answer.destroy());
  };
const goneForGood: Act = (answer) => void answer.writeHead(204).end();

test('follows a job from the start to its terminal event', async () => {
  await using app = await openApp();
  app.fake.append(anEvent(1));
  const ids = idsOf(clientOf(app).jobs.events(JOB_ID));
  await app.fake.followersAre(1);
  app.fake.append(anEvent(2));
  app.fake.append(anEvent(3, END));
  expect(await ids).toEqual(['1-0', '2-0', '3-0']);
});

test('starts after an event, and with new ones only', async () => {
  await using app = await openApp();
  for (const n of [1, 2]) app.fake.append(anEvent(n));
  const after = idsOf(clientOf(app).jobs.events(JOB_ID, { after: '1-0' }));
  const live = idsOf(clientOf(app).jobs.events(JOB_ID, { after: 'now' }));
  await app.fake.followersAre(2);
  app.fake.append(anEvent(3, END));
  expect(await after).toEqual(['2-0', '3-0']);
  expect(await live).toEqual(['3-0']);
});

test('an ended job whose last event is known has nothing more', async () => {
  await using app = await openApp();
  app.fake.append(anEvent(1, END));
  expect(await idsOf(clientOf(app).jobs.events(JOB_ID, { after: '1-0' }))).toEqual([]);
  expect(await idsOf(clientOf(app).jobs.events(JOB_ID, { after: 'now' }))).toEqual([]);
});

test('goes on after a server restart with each event once', async () => {
  const first = await openApp();
  for (const n of [1, 2]) first.fake.append(anEvent(n));
  const seen: string[] = [];
  const client = createClient({
    baseUrl: first.url,
    apiKey: ADMIN_KEY,
    reconnect: { tries: 100, baseMs: 1, maxMs: 20 },
  });
  const done = (async () => {
    for await (const { id } of client.jobs.events(JOB_ID)) seen.push(id);
  })();
  await first.fake.followersAre(1);
  await first.close();
  await using second = await openApp({}, first.port);
  for (const n of [1, 2, 3, 4]) second.fake.append(anEvent(n));
  second.fake.append(anEvent(5, END));
  await done;
  expect(seen).toEqual(['1-0', '2-0', '3-0', '4-0', '5-0']);
});

test('a broken connection is resumed from the last event seen', async () => {
  await using server = await scriptedServer(
    breaks(anEvent(1), anEvent(2)),
    (answer) => void answer.writeHead(503).end('restarting'),
    breaks(),
    ends(anEvent(3), anEvent(4, END)),
  );
  expect(await idsOf(clientOf(server).jobs.events(JOB_ID))).toEqual(['1-0', '2-0', '3-0', '4-0']);
  expect(lastEventIds(server)).toEqual([undefined, '2-0', '2-0', '2-0']);
});

test('an event that was cut in the middle is not lost', async () => {
  await using server = await scriptedServer(
    (answer) => {
      streaming(answer).write(message(anEvent(1)) + message(anEvent(2)).slice(0, -20), () =>
        answer.destroy(),
      );
    },
    ends(anEvent(2), anEvent(3, END)),
  );
  expect(await idsOf(clientOf(server).jobs.events(JOB_ID))).toEqual(['1-0', '2-0', '3-0']);
});

test('a terminal event in the middle of a replay does not end it', async () => {
  await using server = await scriptedServer(
    ends(anEvent(1, END), anEvent(2, { type: 'job.reopened' }), anEvent(3, END)),
  );
  expect(await idsOf(clientOf(server).jobs.events(JOB_ID))).toEqual(['1-0', '2-0', '3-0']);
  expect(lastEventIds(server)).toHaveLength(1);
});

test('a cut right after the terminal event asks once more, and ends', async () => {
  await using server = await scriptedServer(breaks(anEvent(1, END)), goneForGood);
  expect(await idsOf(clientOf(server).jobs.events(JOB_ID))).toEqual(['1-0']);
  expect(lastEventIds(server)).toEqual([undefined, '1-0']);
});

/** With it no stream of these tests lasts as long as the longest wait, however busy the machine is. */
const patientOf = ({ url }: { url: string }) =>
  createClient({ baseUrl: url, apiKey: ADMIN_KEY, reconnect: { ...reconnect, maxMs: 60_000 } });

test('a server that stays away is unavailable after the last try', async () => {
  await using server = await scriptedServer(breaks(anEvent(1)), breaks());
  await expect(idsOf(patientOf(server).jobs.events(JOB_ID))).rejects.toMatchObject({ code: 'unavailable' });
  expect(lastEventIds(server)).toHaveLength(1 + reconnect.tries);
});

test('a server that ends every stream early is given up too', async () => {
  await using server = await scriptedServer(ends());
  await expect(idsOf(patientOf(server).jobs.events(JOB_ID))).rejects.toMatchObject({ code: 'unavailable' });
  expect(lastEventIds(server)).toHaveLength(1 + reconnect.tries);
});

test('a connection that has gone silent is opened anew', async () => {
  await using server = await scriptedServer(
    (answer) => void streaming(answer).write(message(anEvent(1))),
    ends(anEvent(2, END)),
  );
  const client = createClient({ baseUrl: server.url, reconnect, idleMs: 500 });
  expect(await idsOf(client.jobs.events(JOB_ID))).toEqual(['1-0', '2-0']);
});

test('a quiet stream that a proxy cuts again and again is followed all the same', async () => {
  // Each lasts longer than the longest wait, so none counts as a failure; there are more of them than tries.
  const cutWhenQuiet: Act = (answer) => {
    streaming(answer).write(': open\n\n');
    setTimeout(() => answer.destroy(), 20 * reconnect.maxMs);
  };
  const cuts = Array.from({ length: 2 * reconnect.tries }, () => cutWhenQuiet);
  await using server = await scriptedServer(breaks(anEvent(1)), ...cuts, ends(anEvent(2, END)));
  expect(await idsOf(clientOf(server).jobs.events(JOB_ID))).toEqual(['1-0', '2-0']);
  expect(server.requests).toHaveLength(cuts.length + 2);
});

test('comes back when a busy server asked for it, and not sooner', async () => {
  await using server = await scriptedServer(
    breaks(anEvent(1)),
    (answer) => void answer.writeHead(429, { 'retry-after': '1' }).end('slow down'),
    ends(anEvent(2, END)),
  );
  expect(await idsOf(clientOf(server).jobs.events(JOB_ID))).toEqual(['1-0', '2-0']);
  const [, refused, served] = server.requests;
  expect((served?.atMs ?? 0) - (refused?.atMs ?? 0)).toBeGreaterThanOrEqual(1000);
});

test('the first connection is tried once', async () => {
  await using server = await scriptedServer((answer) => void answer.writeHead(503).end('restarting'));
  await expect(idsOf(clientOf(server).jobs.events(JOB_ID))).rejects.toMatchObject({ code: 'unavailable' });
  expect(server.requests).toHaveLength(1);
});

test('an abort while it waits to come back ends it at once', async () => {
  await using server = await scriptedServer(
    breaks(anEvent(1)),
    (answer) => void answer.writeHead(503, { 'retry-after': '60' }).end(),
  );
  const stop = new AbortController();
  const ids = idsOf(clientOf(server).jobs.events(JOB_ID, { signal: stop.signal }));
  await server.requestsAre(2);
  stop.abort();
  expect(await ids).toEqual(['1-0']);
});

test('a refusal is not tried again', async () => {
  await using app = await openApp();
  await expect(idsOf(clientOf(app).jobs.events(NO_JOB_ID))).rejects.toMatchObject({ code: 'not_found' });
  await expect(idsOf(clientOf(app).jobs.events(JOB_ID, { after: 'soon' }))).rejects.toMatchObject({
    code: 'invalid_argument',
  });
});

test('an event that is no longer in the log is told once, or is an error', async () => {
  await using app = await openApp();
  app.fake.append(anEvent(7));
  await expect(idsOf(clientOf(app).jobs.events(JOB_ID, { after: '1-0' }))).rejects.toMatchObject({
    code: 'not_found',
    extras: { asOf: '7-0' },
  });
  const resyncs: string[] = [];
  const onResync = (asOf: string) => {
    resyncs.push(asOf);
    app.fake.append(anEvent(8, END));
  };
  expect(await idsOf(clientOf(app).jobs.events(JOB_ID, { after: '1-0', onResync }))).toEqual(['8-0']);
  expect(resyncs).toEqual(['7-0']);
});

test('an aborted signal ends the iteration, and the connection with it', async () => {
  await using app = await openApp();
  const stop = new AbortController();
  app.fake.append(anEvent(1));
  for await (const event of clientOf(app).jobs.events(JOB_ID, { signal: stop.signal })) {
    expect(event.id).toBe('1-0');
    stop.abort();
  }
  await app.fake.followersAre(0);
});

test('leaving the loop ends the connection', async () => {
  await using app = await openApp();
  app.fake.append(anEvent(1));
  for await (const event of clientOf(app).jobs.events(JOB_ID)) {
    expect(event.id).toBe('1-0');
    break;
  }
  await app.fake.followersAre(0);
});

test('pages of the log are listed', async () => {
  await using app = await openApp();
  for (const n of [1, 2, 3]) app.fake.append(anEvent(n));
  const page = await clientOf(app).jobs.listEvents(JOB_ID, { after: '1-0', limit: 1 });
  expect(page.events.map(({ id }) => id)).toEqual(['2-0']);
});
