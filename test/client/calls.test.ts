import { createServer } from 'node:http';
import { createClient } from '@crewboard/client';
import { CrewboardError } from '@crewboard/contracts';
import { expect, test } from 'vitest';
import { fakeService } from '../api/fake-service.ts';
import { ADMIN_KEY, openApp } from '../api/open-app.ts';
import { aResultLine, JOB_ID, NO_JOB_ID, TASK_ID } from '../api/records.ts';
import { freePort } from '../support/redis-server.ts';

const clientOf = ({ url }: { url: string }) => createClient({ baseUrl: url, apiKey: ADMIN_KEY });

async function failureOf(call: Promise<unknown>): Promise<CrewboardError> {
  const error = await call.then(
    () => undefined,
    (failure: unknown) => failure,
  );
  if (error instanceof CrewboardError) return error;
  throw new Error(`not a CrewboardError: ${String(error)}`);
}

/** A server that answers every request in this way. */
async function serverThatAnswers(status: number, body: string, type = 'application/json') {
  const server = createServer((_, answer) => answer.writeHead(status, { 'content-type': type }).end(body));
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test('submits, reads, lists and cancels jobs', async () => {
  await using app = await openApp();
  const { jobs } = clientOf(app);
  const body = { goal: 'Summarise the docs' };
  expect((await jobs.submit(body, { idempotencyKey: 'nightly-1' })).id).toBe(JOB_ID);
  expect((await jobs.get(JOB_ID)).status).toBe('running');
  expect((await jobs.list({ limit: 2, cursor: 'c 1' })).jobs).toHaveLength(1);
  expect((await jobs.result(JOB_ID)).status).toBe('running');
  expect((await jobs.cancel(JOB_ID, 'too dear')).status).toBe('cancelled');
  expect((await jobs.cancel(JOB_ID)).status).toBe('cancelled');
  expect(app.fake.calls).toMatchObject([
    { method: 'submitJob', args: [body, 'nightly-1'] },
    { method: 'listJobs', args: [{ limit: 2, cursor: 'c 1' }] },
    { method: 'cancelJob', args: [JOB_ID, 'too dear'] },
    { method: 'cancelJob', args: [JOB_ID, undefined] },
  ]);
});

test('pauses, resumes, edits and starts jobs', async () => {
  await using app = await openApp();
  const { jobs } = clientOf(app);
  const edit = { version: 1, limits: { maxParallel: 2, jobTimeoutMs: null } };
  for (const job of [
    await jobs.pause(JOB_ID, 'lunch'),
    await jobs.resume(JOB_ID),
    await jobs.edit(JOB_ID, edit),
    await jobs.start(JOB_ID),
  ]) {
    expect(job.id).toBe(JOB_ID);
  }
  expect(app.fake.calls).toMatchObject([
    { method: 'pauseJob', args: [JOB_ID, 'lunch'] },
    { method: 'resumeJob', args: [JOB_ID, undefined] },
    { method: 'editJob', args: [JOB_ID, edit] },
    { method: 'startJob', args: [JOB_ID] },
  ]);
});

test('lists, reads and adds tasks', async () => {
  await using app = await openApp();
  const { tasks } = clientOf(app);
  const query = { status: 'pending', label: ['a', 'b'] } as const;
  expect((await tasks.list(JOB_ID, { ...query, label: ['a', 'b'] })).asOf).toBe('1-0');
  expect((await tasks.list(JOB_ID)).tasks).toHaveLength(1);
  expect((await tasks.get(JOB_ID, TASK_ID)).id).toBe(TASK_ID);
  expect((await tasks.add(JOB_ID, [{ title: 'More' }], { idempotencyKey: 'b1' })).tasks).toHaveLength(1);
  expect(app.fake.calls).toMatchObject([
    { method: 'listTasks', args: [JOB_ID, query] },
    { method: 'listTasks', args: [JOB_ID, {}] },
    { method: 'addTasks', args: [JOB_ID, [{ title: 'More' }], 'b1'] },
  ]);
});

test('reads result lines as they come, and may stop half-way', async () => {
  await using app = await openApp();
  app.fake.results = async function* () {
    for (let n = 1; n <= 3; n++) yield aResultLine(n, 'naïve 😀\n'.repeat(5000));
  };
  const numbers: number[] = [];
  for await (const line of clientOf(app).jobs.results(JOB_ID)) {
    expect(line.output).toBe('naïve 😀\n'.repeat(5000));
    numbers.push(line.number);
  }
  expect(numbers).toEqual([1, 2, 3]);
  for await (const line of clientOf(app).jobs.results(JOB_ID)) {
    expect(line.number).toBe(1);
    break;
  }
});

test('a download that is cut half-way throws', async () => {
  await using app = await openApp();
  app.fake.results = async function* () {
    yield aResultLine(1);
    throw new Error('redis has gone');
  };
  const read = async () => {
    for await (const _ of clientOf(app).jobs.results(JOB_ID));
  };
  expect(await failureOf(read())).toMatchObject({ code: 'unavailable' });
});

test("the server's refusals keep code, detail, extras and retry", async () => {
  await using app = await openApp();
  const missing = await failureOf(clientOf(app).tasks.get(JOB_ID, 't_abcd2346'));
  expect(missing).toMatchObject({ code: 'not_found', retry: 'after_fix', extras: { nearest: [TASK_ID] } });
  expect(missing.detail).toContain('t_abcd2346');
  expect(await failureOf(clientOf(app).jobs.get(NO_JOB_ID))).toMatchObject({ code: 'not_found' });
  expect(await failureOf(clientOf(app).jobs.get('../../healthz'))).toMatchObject({ code: 'not_found' });
  const stranger = createClient({ baseUrl: `${app.url}/`, apiKey: 'wrong-key-0123456789' });
  expect(await failureOf(stranger.jobs.list())).toMatchObject({ code: 'unauthorized' });
});

test('a server that is not there is unavailable, with its URL', async () => {
  const baseUrl = `http://127.0.0.1:${await freePort()}`;
  const { jobs } = createClient({ baseUrl });
  const error = await failureOf(jobs.list());
  expect(error).toMatchObject({ code: 'unavailable', retry: 'later' });
  expect(error.detail).toContain(`${baseUrl}/v1/jobs`);
  expect(error.detail).toContain('ECONNREFUSED');
  const first = jobs.events(JOB_ID)[Symbol.asyncIterator]().next();
  expect(await failureOf(first)).toMatchObject({ code: 'unavailable' });
});

test.each([
  ['a page of another program', 200, '<html>hello</html>'],
  ['another shape', 200, '{"jobs":[{"id":7}]}'],
  ['a failure without a problem', 502, 'Bad gateway'],
])('%s is unavailable', async (_, status, body) => {
  await using server = await serverThatAnswers(status, body);
  const error = await failureOf(clientOf(server).jobs.list());
  expect(error).toMatchObject({ code: 'unavailable' });
  expect(error.detail).toContain(server.url);
});

test('a server that never answers is given up after the timeout', async () => {
  const server = createServer(() => {});
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const { jobs } = createClient({ baseUrl: `http://127.0.0.1:${port}`, timeoutMs: 20 });
  expect(await failureOf(jobs.list())).toMatchObject({ code: 'unavailable' });
  server.closeAllConnections();
  server.close();
});

test('an aborted call throws the reason of its signal', async () => {
  await using app = await openApp();
  const reason = new Error('changed my mind');
  const call = clientOf(app).jobs.get(JOB_ID, { signal: AbortSignal.abort(reason) });
  await expect(call).rejects.toBe(reason);
});

test('readiness is an answer also when it is no', async () => {
  const { service } = fakeService();
  const state = { ready: false, redis: 'down', model: 'none' } as const;
  await using app = await openApp({ service: { ...service, ready: async () => state } });
  expect(await clientOf(app).ready()).toEqual(state);
});
