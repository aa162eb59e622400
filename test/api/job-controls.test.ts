import { Job } from '@crewboard/contracts';
import { expect, test } from 'vitest';
import { AS_ADMIN, bearer, openApp, READ_KEY } from './open-app.ts';
import { JOB_ID, NO_JOB_ID } from './records.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const PATCH = JSON.stringify({ version: 3, limits: { maxParallel: 16, maxFailures: null } });

test.each([
  ['POST', '/pause', undefined, 'pauseJob', [JOB_ID, undefined]],
  ['POST', '/pause', '{"reason":"lunch"}', 'pauseJob', [JOB_ID, 'lunch']],
  ['POST', '/resume', '{"reason":"back"}', 'resumeJob', [JOB_ID, 'back']],
  ['POST', '/start', undefined, 'startJob', [JOB_ID]],
  ['POST', '/start', '{}', 'startJob', [JOB_ID]],
  ['PATCH', '', PATCH, 'editJob', [JOB_ID, JSON.parse(PATCH)]],
])('%s of a job%s with %s answers the job', async (method, path, body, call, args) => {
  await using app = await openApp();
  const answer = await fetch(`${app.url}/v1/jobs/${JOB_ID}${path}`, {
    method,
    headers: { ...AS_ADMIN, ...(body === undefined ? {} : JSON_TYPE) },
    ...(body === undefined ? {} : { body }),
  });
  expect(answer.status).toBe(200);
  expect(Job.parse(await answer.json()).id).toBe(JOB_ID);
  expect(app.fake.calls).toMatchObject([{ method: call, args }]);
});

test.each([
  ['POST', '/pause', '{"why":"lunch"}'],
  ['POST', '/start', '{"now":true}'],
  ['PATCH', '', '{"version":0,"limits":{"maxTurns":5}}'],
])('%s of a job%s refuses %s', async (method, path, body) => {
  await using app = await openApp();
  const headers = { ...AS_ADMIN, ...JSON_TYPE };
  const answer = await fetch(`${app.url}/v1/jobs/${JOB_ID}${path}`, { method, headers, body });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ code: 'invalid_argument' });
  expect(app.fake.calls).toEqual([]);
});

test.each(['pause', 'resume', 'start'])('nobody may %s a job with a key that only reads', async (call) => {
  await using app = await openApp();
  const url = `${app.url}/v1/jobs/${JOB_ID}/${call}`;
  expect((await fetch(url, { method: 'POST', headers: bearer(READ_KEY) })).status).toBe(403);
  const absent = `${app.url}/v1/jobs/${NO_JOB_ID}/${call}`;
  expect((await fetch(absent, { method: 'POST', headers: AS_ADMIN })).status).toBe(404);
});
