import { Job, JobList, SubmitAnswer } from '@crewboard/contracts';
import { expect, test } from 'vitest';
import { AS_ADMIN, bearer, openApp, READ_KEY } from './open-app.ts';
import { JOB_ID, NO_JOB_ID } from './records.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const aBody = JSON.stringify({ tasks: [{ title: 'Summarise README.md' }] });

test('accepts a job with 202 and passes body, caller and Idempotency-Key on', async () => {
  await using app = await openApp();
  const answer = await fetch(`${app.url}/v1/jobs`, {
    method: 'POST',
    headers: { ...AS_ADMIN, ...JSON_TYPE, 'idempotency-key': 'nightly-17' },
    body: aBody,
  });
  expect(answer.status).toBe(202);
  expect(SubmitAnswer.parse(await answer.json()).id).toBe(JOB_ID);
  expect(app.fake.calls).toMatchObject([
    {
      method: 'submitJob',
      scope: { project: '*', caller: 'admin' },
      args: [{ tasks: [{ title: 'Summarise README.md' }] }, 'nightly-17'],
    },
  ]);
});

test.each([
  ['an empty one', ''],
  ['one with a space', 'two words'],
  ['one of 201 characters', 'k'.repeat(201)],
  ['one beyond ASCII', 'cl\u00e9'],
])('refuses an Idempotency-Key: %s', async (_, key) => {
  await using app = await openApp();
  const answer = await fetch(`${app.url}/v1/jobs`, {
    method: 'POST',
    headers: { ...AS_ADMIN, ...JSON_TYPE, 'idempotency-key': key },
    body: aBody,
  });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ code: 'invalid_argument', path: 'idempotency-key' });
  expect(app.fake.calls).toEqual([]);
});

test('a body that is not a job is refused with the path and an example', async () => {
  await using app = await openApp();
  const answer = await fetch(`${app.url}/v1/jobs`, {
    method: 'POST',
    headers: { ...AS_ADMIN, ...JSON_TYPE },
    body: JSON.stringify({ tasks: [{ title: ' ' }] }),
  });
  expect(answer.status).toBe(400);
  expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  expect(await answer.json()).toMatchObject({
    code: 'invalid_argument',
    path: 'tasks[0].title',
    retry: 'after_fix',
    example: { goal: expect.any(String) },
  });
});

test('reads and lists jobs', async () => {
  await using app = await openApp();
  const one = await fetch(`${app.url}/v1/jobs/${JOB_ID}`, { headers: AS_ADMIN });
  expect(Job.parse(await one.json()).id).toBe(JOB_ID);
  const list = await fetch(`${app.url}/v1/jobs?limit=5&cursor=c1`, { headers: AS_ADMIN });
  expect(JobList.parse(await list.json()).jobs).toHaveLength(1);
  expect(app.fake.calls).toMatchObject([{ method: 'listJobs', args: [{ limit: 5, cursor: 'c1' }] }]);
});

test.each([['colour=red'], ['limit=0'], ['limit=101'], ['limit=x'], ['limit=1&limit=2']])(
  'refuses the query %s',
  async (query) => {
    await using app = await openApp();
    const answer = await fetch(`${app.url}/v1/jobs?${query}`, { headers: AS_ADMIN });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ code: 'invalid_argument' });
  },
);

test.each([[NO_JOB_ID], ['job_short'], ['nonsense'], ['x'.repeat(150)], ['%zz']])(
  'a job that is not there is 404: %s',
  async (id) => {
    await using app = await openApp();
    const answer = await app.raw(`/v1/jobs/${id}`, { headers: AS_ADMIN });
    expect(answer.status).toBe(404);
    expect(JSON.parse(answer.text)).toMatchObject({ code: 'not_found' });
  },
);

test('a job of another project is 404', async () => {
  await using app = await openApp();
  app.fake.job = { ...app.fake.job, project: 'other' };
  const answer = await fetch(`${app.url}/v1/jobs/${JOB_ID}`, { headers: bearer(READ_KEY) });
  expect(answer.status).toBe(404);
});

test.each([
  ['no body', {}, undefined, undefined],
  ['no body but a JSON content type', JSON_TYPE, undefined, undefined],
  ['an empty object', JSON_TYPE, '{}', undefined],
  ['a reason', JSON_TYPE, '{"reason":"too dear"}', 'too dear'],
])('cancels a job with %s', async (_, headers, body, reason) => {
  await using app = await openApp();
  const answer = await fetch(`${app.url}/v1/jobs/${JOB_ID}/cancel`, {
    method: 'POST',
    headers: { ...AS_ADMIN, ...headers },
    ...(body === undefined ? {} : { body }),
  });
  expect(answer.status).toBe(200);
  expect(Job.parse(await answer.json()).status).toBe('cancelled');
  expect(app.fake.calls).toMatchObject([{ method: 'cancelJob', args: [JOB_ID, reason] }]);
});
