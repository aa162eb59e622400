import { fixedKeys } from '@crewboard/api';
import { expect, test } from 'vitest';
import { parseExposition } from '../support/exposition.ts';
import { ADMIN_KEY, bearer, openApp, PROJECT_ADMIN_KEY, READ_KEY, WORKER_KEY } from './open-app.ts';
import { JOB_ID } from './records.ts';

const ALL_READER = 'cb_all-projects-reader-0123456789';

test('metrics are for keys of all projects, whatever their role', async () => {
  await using app = await openApp({
    keys: fixedKeys([
      { key: ALL_READER, caller: 'prometheus', role: 'read', project: '*' },
      { key: PROJECT_ADMIN_KEY, caller: 'lea', role: 'admin', project: 'other' },
    ]),
  });
  expect(await app.raw('/metrics', { headers: bearer(ALL_READER) })).toMatchObject({ status: 200 });
  expect(await app.raw('/metrics', { headers: bearer(PROJECT_ADMIN_KEY) })).toMatchObject({ status: 403 });
  expect(await app.raw('/metrics')).toMatchObject({ status: 401 });
});

test('requests are counted by the pattern of their route, never by what stands in the path', async () => {
  await using app = await openApp();
  await app.raw(`/v1/jobs/${JOB_ID}`, { headers: bearer(READ_KEY) });
  await app.raw('/v1/jobs/job_none?secret=value', { headers: bearer(WORKER_KEY) });
  await app.raw('/somewhere/else', { headers: bearer(READ_KEY) });
  await app.raw('/admin/queues/api/queues', { headers: bearer(ADMIN_KEY) });
  const { text, headers } = await app.raw('/metrics?format=any', { headers: bearer(ADMIN_KEY) });
  expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  const { samples, sum } = parseExposition(text);
  const took = 'crewboard_http_request_duration_seconds_count';
  expect(sum(took, { route: '/v1/jobs/:id', method: 'GET' })).toBe(2);
  expect(sum(took, { route: 'none', status: '404' })).toBe(1);
  expect(sum(took, { route: '/admin/queues/*' })).toBe(1);
  const routes = new Set(samples.flatMap(({ labels: { route } }) => route ?? []));
  expect([...routes].sort()).toEqual(['/admin/queues/*', '/v1/jobs/:id', 'none']);
});

test('a HEAD of the metrics has their headers and no body', async () => {
  await using app = await openApp();
  const { status, text } = await app.raw('/metrics', { method: 'HEAD', headers: bearer(ADMIN_KEY) });
  expect([status, text]).toEqual([200, '']);
});
