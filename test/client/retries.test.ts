import { type Client, createClient, isCrewboardError } from '@crewboard/client';
import { expect, test } from 'vitest';
import { aJob, aTask, JOB_ID, TASK_ID } from '../api/records.ts';
import { type Act, scriptedServer } from './scripted-server.ts';

const retries = { tries: 2, baseMs: 1, maxMs: 5 };
const clientOf = ({ url }: { url: string }) => createClient({ baseUrl: url, retries, timeoutMs: 5000 });

const says =
  (value: unknown, status = 200): Act =>
  (answer) =>
    answer.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
const resets: Act = (answer) => answer.destroy();
const busy: Act = (answer) => answer.writeHead(503).end('restarting');
const asks =
  (status: number, retryAfter: string): Act =>
  (answer) =>
    answer.writeHead(status, { 'retry-after': retryAfter }).end();
const problem =
  (status: number, code: string, retry: string): Act =>
  (answer) =>
    answer
      .writeHead(status, { 'content-type': 'application/problem+json' })
      .end(JSON.stringify({ type: 'about:blank', title: code, status, code, detail: 'No.', retry }));

const SUBMITTED = { id: JOB_ID, status: 'running', links: aJob().links };
const HELD = { claimToken: '1-secret' };

test.each<[string, Act]>([
  ['a connection that is reset', resets],
  ['a server that restarts', busy],
  ['a server whose Redis is away', problem(503, 'unavailable', 'later')],
  ['a rate limit', asks(429, '0')],
])('a read is repeated after %s', async (_, act) => {
  await using server = await scriptedServer(act, act, says(aJob()));
  expect(await clientOf(server).jobs.get(JOB_ID)).toMatchObject({ id: JOB_ID });
  expect(server.requests).toHaveLength(3);
});

test('a failure that does not pass is told after the last try', async () => {
  await using server = await scriptedServer(busy);
  await expect(clientOf(server).jobs.get(JOB_ID)).rejects.toMatchObject({ code: 'unavailable' });
  expect(server.requests).toHaveLength(1 + retries.tries);
});

test.each<[string, Act, string]>([
  ['a refusal', problem(409, 'stale_version', 'after_refresh'), 'stale_version'],
  ['a server that says it will never do', problem(503, 'unavailable', 'never'), 'unavailable'],
  ['another program', (answer) => answer.writeHead(404).end('<html>'), 'unavailable'],
])('%s is not asked again', async (_, act, code) => {
  await using server = await scriptedServer(act);
  await expect(clientOf(server).jobs.get(JOB_ID)).rejects.toMatchObject({ code });
  expect(server.requests).toHaveLength(1);
});

test.each<[string, (client: Client) => Promise<unknown>, unknown]>([
  ['submit', ({ jobs }) => jobs.submit({ goal: 'Sum up' }), SUBMITTED],
  ['cancel', ({ jobs }) => jobs.cancel(JOB_ID), aJob()],
  ['message', ({ jobs }) => jobs.message(JOB_ID, { text: 'Hurry' }), { messageId: 'msg_abcdefgh2345' }],
  ['add', ({ tasks }) => tasks.add(JOB_ID, [{ title: 'More' }]), { created: {}, tasks: [] }],
])(
  '%s repeats itself under one Idempotency-Key, and takes another the next time',
  async (_, call, answer) => {
    await using server = await scriptedServer(resets, says(answer), says(answer));
    const client = clientOf(server);
    await call(client);
    await call(client);
    const [first, second, next] = server.requests.map(({ headers }) => headers['idempotency-key']);
    expect(first).toMatch(/^\S{20,}$/);
    expect(second).toBe(first);
    expect(next).not.toBe(first);
  },
);

test("the caller's own Idempotency-Key is the one that is sent", async () => {
  await using server = await scriptedServer(resets, says(SUBMITTED));
  await clientOf(server).jobs.submit({ goal: 'Sum up' }, { idempotencyKey: 'nightly-1' });
  expect(server.requests.map(({ headers }) => headers['idempotency-key'])).toEqual([
    'nightly-1',
    'nightly-1',
  ]);
});

test.each<[string, (client: Client) => Promise<unknown>, unknown]>([
  ['claim', ({ tasks }) => tasks.claim(JOB_ID, { owner: 'laptop' }), { task: null, counts: aJob().counts }],
  ['note', ({ tasks }) => tasks.note(JOB_ID, TASK_ID, { ...HELD, text: 'Half' }), aTask()],
  ['submit', ({ tasks }) => tasks.submit(JOB_ID, TASK_ID, { ...HELD, version: 1, summary: 'Done' }), aTask()],
])("a holder's %s repeats itself under one requestId", async (_, call, answer) => {
  await using server = await scriptedServer(resets, says(answer));
  await call(clientOf(server));
  const ids = server.requests.map(({ body }) => JSON.parse(body).requestId);
  expect(ids[0]).toMatch(/^\S{20,}$/);
  expect(ids).toEqual([ids[0], ids[0]]);
});

test.each<[string, (client: Client) => Promise<unknown>]>([
  ['resume', ({ jobs }) => jobs.resume(JOB_ID)],
  ['edit', ({ jobs }) => jobs.edit(JOB_ID, { version: 1, limits: { maxParallel: 2 } })],
  ['delete', ({ jobs }) => jobs.delete(JOB_ID)],
])('%s is sent once: whether it was carried out is not known', async (_, call) => {
  await using server = await scriptedServer(resets);
  await expect(call(clientOf(server))).rejects.toMatchObject({ code: 'unavailable' });
  expect(server.requests).toHaveLength(1);
});

test('waits as long as the server asks', async () => {
  await using server = await scriptedServer(asks(429, '1'), says(aJob()));
  await clientOf(server).jobs.get(JOB_ID);
  const [refused, served] = server.requests;
  expect((served?.atMs ?? 0) - (refused?.atMs ?? 0)).toBeGreaterThanOrEqual(1000);
});

test('a wait that would be too long is left to the caller, who is told how long', async () => {
  const at = new Date(Date.now() + 3_600_000).toUTCString();
  await using server = await scriptedServer(asks(429, at));
  const error: unknown = await clientOf(server)
    .jobs.get(JOB_ID)
    .catch((failure: unknown) => failure);
  if (!isCrewboardError(error, 'rate_limited')) throw new Error(`not that error: ${String(error)}`);
  expect(error.retry).toBe('later');
  expect(error.extras.retryAfterMs).toBeGreaterThan(3_500_000);
  expect(server.requests).toHaveLength(1);
});

test('a call that timed out is not repeated', async () => {
  await using server = await scriptedServer(() => {});
  const client = createClient({ baseUrl: server.url, retries, timeoutMs: 500 });
  await expect(client.jobs.get(JOB_ID)).rejects.toMatchObject({
    code: 'unavailable',
    extras: { timedOut: true },
  });
  expect(server.requests).toHaveLength(1);
});

test('an abort while it waits throws the reason at once', async () => {
  await using server = await scriptedServer(asks(503, '60'));
  const stop = new AbortController();
  const call = clientOf(server).jobs.get(JOB_ID, { signal: stop.signal });
  const reason = new Error('changed my mind');
  await server.requestsAre(1);
  stop.abort(reason);
  await expect(call).rejects.toBe(reason);
  expect(server.requests).toHaveLength(1);
});
