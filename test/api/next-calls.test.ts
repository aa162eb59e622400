import { routeTable } from '@crewboard/api';
import { Problem } from '@crewboard/contracts';
import { afterAll, beforeAll, describe, expect, it, test, vi } from 'vitest';
import { z } from 'zod';
import { fakeService } from './fake-service.ts';
import { ADMIN_KEY, bearer, READ_KEY } from './open-app.ts';
import { openRealApp, type RealApp } from './open-real-app.ts';

vi.setConfig({ testTimeout: 60_000 });

const AS_ADMIN = bearer(ADMIN_KEY);
const routes = routeTable(fakeService().service);
const named = routes.map((route) => [route.name, route] as const);

/** A valid body of a route, as far as it takes one. */
const sampleOf = (route: (typeof routes)[number]) => z.looseObject({}).parse(route.example ?? {});

interface Sent {
  headers?: Record<string, string>;
  query?: string;
  body?: unknown;
}

let app: RealApp;
let jobId: string;
let taskId: string;
beforeAll(async () => {
  app = await openRealApp();
  const job = await app.board.job([{ key: 'a', title: 'A', executor: 'external' }], { lead: true });
  jobId = job.jobId;
  taskId = job.ids.a ?? '';
});
afterAll(async () => app[Symbol.asyncDispose]());

const pathOf = (path: string, id = jobId, task = taskId) =>
  path
    .replace('/v1/keys/:id', `/v1/keys/${id === jobId ? 'key_zzzzzzzzzzzz' : id}`)
    .replace(':id', id)
    .replace(':taskId', task)
    .replace('*', 'nowhere.txt');

/** Sends a call that is refused, and returns the problem with what its `next` is: a method, a path, and words. */
async function refused(method: string, path: string, { headers = AS_ADMIN, query = '', body }: Sent = {}) {
  const answer = await fetch(`${app.url}${path}${query}`, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const problem = Problem.parse(await answer.json());
  const [, called = '', to = '', words = ''] = /^(\S+) (\S+) ?(.*)$/.exec(String(problem.next)) ?? [];
  return { problem, method: called, path: to, words, example: problem.example };
}

/** Follows an advised call that reads: it must lead somewhere. */
async function expectReadable(advised: { method: string; path: string }): Promise<void> {
  expect(advised.method).toBe('GET');
  const answer = await fetch(`${app.url}${advised.path}`, { headers: AS_ADMIN });
  await answer.body?.cancel();
  expect({ path: advised.path, status: answer.status }).toEqual({ path: advised.path, status: 200 });
}

/** The list that the things of a path stand in. */
const listOf = (path: string) => (path.startsWith('/v1/keys') ? '/v1/keys' : '/v1/jobs');

describe('what a refusal advises is about the call that was refused:', () => {
  it.each(named.filter(([, { access }]) => access !== 'public'))('%s without a key', async (_, route) => {
    const path = pathOf(route.path);
    const advised = await refused(route.method, path, { headers: {} });
    expect(advised).toMatchObject({ method: route.method, path, words: expect.stringContaining('Bearer') });
  });

  it.each(named.filter(([name]) => name !== 'scrapeMetrics'))(
    '%s with a parameter that is none',
    async (_, route) => {
      const path = pathOf(route.path);
      const body = route.example;
      const advised = await refused(route.method, path, { query: '?colour=1', body });
      expect(advised.problem).toMatchObject({ code: 'invalid_argument', path: 'colour' });
      // Of a key or a file there is nothing to read but the list, or itself.
      const isThere = !/nowhere|key_z/.test(advised.path);
      if (isThere) await expectReadable(advised);
      expect(path.startsWith(advised.path.replace(/\/(events|tasks\/claim)$/, ''))).toBe(true);
    },
  );

  it.each(named.filter(([, { path }]) => path.includes(':id')))('%s of nothing', async (_, route) => {
    for (const id of [
      'nonsense',
      route.path.startsWith('/v1/keys') ? 'key_yyyyyyyyyyyy' : 'job_zzzzzzzzzzzz',
    ]) {
      const advised = await refused(route.method, pathOf(route.path, id), { body: route.example });
      expect(advised.problem.code).toBe('not_found');
      expect(advised.path).toBe(listOf(route.path));
      await expectReadable(advised);
    }
  });

  it.each(named.filter(([, { path }]) => path.includes(':taskId')))('%s of no task', async (_, route) => {
    for (const task of ['t_zzzzzzzz', '']) {
      const advised = await refused(route.method, pathOf(route.path, jobId, task), { body: route.example });
      expect(advised.problem.code).toBe('not_found');
      expect(advised.path).toBe(`/v1/jobs/${jobId}/tasks`);
    }
  });

  it.each(named.filter(([, { example }]) => example !== undefined))(
    '%s with a body that is none, a field that is none, or a field twice',
    async (_, route) => {
      const path = pathOf(route.path);
      for (const body of [[], { ...sampleOf(route), colour: 1 }, '{', '{"colour": 1, "colour": 2}']) {
        const advised = await refused(route.method, path, { body });
        expect(advised.problem.code).toBe('invalid_argument');
        await expectReadable(advised);
        expect(path.startsWith(advised.path)).toBe(true);
        expect(route.schemas.body.safeParse(advised.example).success).toBe(true);
      }
    },
  );

  it.each(named)('%s with another method', async (_, route) => {
    const path = pathOf(route.path);
    const advised = await refused('PUT', path);
    expect(advised.problem.code).toBe('method_not_allowed');
    expect(advised.problem.allowed).toContain(route.method);
    // Never one that changes something: a program may just send it.
    expect(advised.method).toBe('GET');
    if (advised.path !== path) await expectReadable(advised);
  });

  it.each(named.filter(([, { access }]) => access === 'operator' || access === 'submit'))(
    '%s with a key that may not',
    async (_, route) => {
      const headers = bearer(READ_KEY);
      const advised = await refused(route.method, pathOf(route.path), { headers, body: route.example });
      expect(advised.problem.code).toBe('forbidden');
      const answer = await fetch(`${app.url}${advised.path}`, { headers: AS_ADMIN });
      expect(answer.status).toBe(200);
      expect(advised.path).not.toContain('key_');
    },
  );
});

test('what keeps a call from going too far is never guessed: the example is that call, and does nothing', async () => {
  const rerun = `/v1/jobs/${jobId}/rerun`;
  const where = { status: 'completed', key: 'a*' };
  for (const expectCount of [0, -1, 'many', 7]) {
    const body = { where, instructions: 'mine', expectCount };
    const { problem, example } = await refused('POST', rerun, { body });
    expect(problem).toMatchObject({ code: 'invalid_argument', path: 'expectCount' });
    expect(example).toEqual({ where, instructions: 'mine', expectCount: 1_000_000 });
    expect((await refused('POST', rerun, { body: example })).problem).toMatchObject({ path: 'expectCount' });
  }
  const task = `/v1/jobs/${jobId}/tasks/${taskId}`;
  for (const version of [0, 'last', null]) {
    const { example } = await refused('PATCH', task, { body: { version, title: 'mine' } });
    expect(example).toEqual({ title: 'mine', version: 1_000_000 });
    expect((await refused('PATCH', task, { body: example })).problem.code).toBe('stale_version');
  }
});

test('a rerun that matches another number, or nothing, is shown the tasks that match', async () => {
  const where = { status: 'completed', label: ['x', 'y'], key: 'page/*', class: 'check' };
  const advised = await refused('POST', `/v1/jobs/${jobId}/rerun`, { body: { where } });
  expect(advised.problem).toMatchObject({ code: 'not_found', path: 'where' });
  const { pathname, searchParams } = new URL(advised.path, app.url);
  expect(pathname).toBe(`/v1/jobs/${jobId}/tasks`);
  expect([...searchParams]).toEqual([
    ['status', 'completed'],
    ['label', 'x'],
    ['label', 'y'],
    ['key', 'page/*'],
    ['class', 'check'],
  ]);
  await expectReadable(advised);
  // A list takes one status: of several it shows all.
  const body = { where: { status: ['completed', 'failed'], key: 'a' }, expectCount: 3 };
  const other = await refused('POST', `/v1/jobs/${jobId}/rerun`, { body });
  expect(other.path).toBe(`/v1/jobs/${jobId}/tasks?key=a`);
});

test('a word of a rerun that is misspelt is put right in the call itself', async () => {
  const body = { where: { status: 'faild', class: 'chek' }, expectCount: 3 };
  const { example } = await refused('POST', `/v1/jobs/${jobId}/rerun`, { body });
  expect(example).toEqual({ where: { status: 'failed', class: 'check' }, expectCount: 3 });
});

test('refusals about keys lead to the keys', async () => {
  const created = await fetch(`${app.url}/v1/keys`, {
    method: 'POST',
    headers: { ...AS_ADMIN, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'ann', role: 'read', project: 'default' }),
  });
  const { id } = z.object({ id: z.string() }).parse(await created.json());
  const calls = [
    await refused('POST', '/v1/keys', { body: { name: 'ann', role: 'read', project: 'default' } }),
    await refused('POST', '/v1/keys', { body: { name: 'bob', role: 'boss', project: 'default' } }),
    await refused('DELETE', '/v1/keys/env'),
    await refused('DELETE', `/v1/keys/${id}x`),
    await refused('DELETE', `/v1/keys/${'x'.repeat(101)}`),
    await refused('GET', '/v1/keys', { query: '?cursor=x' }),
    await refused('GET', `/v1/keys/${id}/more`),
  ];
  expect(calls.map(({ method, path }) => `${method} ${path}`)).toEqual(calls.map(() => 'GET /v1/keys'));
});
