import { createClient } from '@crewboard/client';
import { TaskList } from '@crewboard/contracts';
import { expect, test } from 'vitest';
import { ADMIN_KEY } from './open-app.ts';
import { openRealApp, type RealApp } from './open-real-app.ts';

async function keysOf(app: RealApp, jobId: string, query: string) {
  const { body } = await app.send('GET', `/${jobId}/tasks?${query}`);
  const { tasks, nextCursor } = TaskList.parse(body);
  return { keys: tasks.map(({ key }) => key ?? 'none'), nextCursor };
}

/** Pages and a summary; one page is completed, one has failed by its check and one by the model, each for good. */
async function open() {
  const app = await openRealApp();
  const external = { executor: 'external', maxAttempts: 1 } as const;
  const { jobId, ids } = await app.board.job([
    { key: 'page/1', title: 'One', labels: ['en'], ...external },
    { key: 'page/2', title: 'Two', labels: ['en', 'long'], ...external },
    { key: 'page/10', title: 'Ten', labels: ['de'], ...external },
    { key: 'sum', title: 'Sum', ...external },
    { title: 'Nameless', ...external },
  ]);
  const end = async (key: string, action: string, rest: object) => {
    const taskId = ids[key];
    const { claimToken } = (await app.send('POST', `/${jobId}/tasks/claim`, { taskId, owner: 'bob' })).body;
    const answer = await app.send('POST', `/${jobId}/tasks/${taskId}/${action}`, { claimToken, ...rest });
    expect(answer.status).toBe(200);
  };
  await end('page/1', 'submit', { version: 2, summary: 'done' });
  await end('page/2', 'fail', { reason: 'no', class: 'check', retryable: false });
  await end('page/10', 'fail', { reason: 'no', retryable: false });
  return { app, jobId, ids, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

test('lists tasks by a pattern for the whole key, the class of the failure, and all filters at once', async () => {
  await using at = await open();
  for (const [query, keys] of [
    ['key=page/*', ['page/1', 'page/2', 'page/10']],
    ['key=page/%3F', ['page/1', 'page/2']],
    ['key=page/10', ['page/10']],
    ['key=age/*', []],
    ['key=*', ['page/1', 'page/2', 'page/10', 'sum']],
    ['class=check', ['page/2']],
    ['class=model', ['page/10']],
    ['class=infra', []],
    ['key=page/*&class=check', ['page/2']],
    ['key=page/*&status=failed', ['page/2', 'page/10']],
    ['key=page/*&label=en&label=long', ['page/2']],
    ['key=*&readiness=ready', ['sum']],
    ['', ['page/1', 'page/2', 'page/10', 'sum', 'none']],
  ] as const)
    expect({ query, ...(await keysOf(at.app, at.jobId, query)) }).toEqual({
      query,
      keys,
      nextCursor: undefined,
    });
});

test('a filtered list goes on page by page and shows each task once', async () => {
  await using at = await open();
  const seen: string[] = [];
  let next: string | undefined = '';
  for (let pages = 0; next !== undefined && pages < 10; pages++) {
    const { keys, nextCursor } = await keysOf(
      at.app,
      at.jobId,
      `key=page/*&limit=1${next && `&cursor=${next}`}`,
    );
    seen.push(...keys);
    next = nextCursor;
  }
  expect(seen).toEqual(['page/1', 'page/2', 'page/10']);
});

test('a list that is told what a rerun would match shows just these', async () => {
  await using at = await open();
  const where = { status: 'failed', key: 'page/*', class: 'check' };
  const query = new URLSearchParams(where).toString();
  expect((await keysOf(at.app, at.jobId, query)).keys).toEqual(['page/2']);
  const rerun = await at.app.send('POST', `/${at.jobId}/rerun`, { where, expectCount: 1 });
  expect(rerun).toMatchObject({ status: 200, body: { matched: 1 } });
});

test('the client takes the same filters', async () => {
  await using at = await open();
  const client = createClient({ baseUrl: at.app.url, apiKey: ADMIN_KEY });
  const { tasks } = await client.tasks.list(at.jobId, {
    key: 'page/?',
    class: 'check',
    label: ['en', 'long'],
  });
  expect(tasks.map(({ key }) => key)).toEqual(['page/2']);
});

test('words that are no filter are refused', async () => {
  await using at = await open();
  for (const query of [
    'class=sad',
    'key=',
    `key=${'x'.repeat(201)}`,
    'key=a&key=b',
    'class=check&class=model',
  ])
    expect(await at.app.send('GET', `/${at.jobId}/tasks?${query}`)).toMatchObject({
      status: 400,
      body: {
        code: 'invalid_argument',
        path: query.split('=', 1)[0],
        next: `GET /v1/jobs/${at.jobId}/tasks`,
      },
    });
});

test('a page of a large board looks at a bounded number of tasks, and says that there is more', async () => {
  await using app = await openRealApp();
  const { jobId } = await app.board.job(
    Array.from({ length: 2600 }, (_, i) => ({ key: i < 2500 ? `a/${i}` : `b/${i}`, title: 'T' })),
  );
  const first = await keysOf(app, jobId, 'key=b/*&limit=100');
  expect(first.keys).toEqual([]);
  const second = await keysOf(app, jobId, `key=b/*&limit=100&cursor=${first.nextCursor}`);
  expect(second.keys).toHaveLength(100);
  expect(second.nextCursor).toBeUndefined();
});
