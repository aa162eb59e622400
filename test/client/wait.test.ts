import { createClient } from '@crewboard/client';
import { expect, test } from 'vitest';
import { ADMIN_KEY, openApp } from '../api/open-app.ts';
import { anEvent, JOB_ID, NO_JOB_ID } from '../api/records.ts';

const jobsOf = ({ url }: { url: string }) => createClient({ baseUrl: url, apiKey: ADMIN_KEY }).jobs;

test("waits for a job's end, and answers its result", async () => {
  await using app = await openApp();
  for (const n of [1, 2, 3]) app.fake.append(anEvent(n));
  const result = jobsOf(app).wait(JOB_ID);
  await app.fake.followersAre(1);
  app.fake.append(anEvent(4, { type: 'job.succeeded' }));
  expect(await result).toMatchObject({ jobId: JOB_ID, status: 'succeeded' });
  // What was before is not sent again.
  expect(app.fake.taken).toBe(1);
});

test('a job that has ended is answered at once', async () => {
  await using app = await openApp();
  app.fake.append(anEvent(1, { type: 'job.succeeded' }));
  expect(await jobsOf(app).wait(JOB_ID)).toMatchObject({ status: 'succeeded' });
});

test('a signal ends the wait with its reason, and leaves the job alone', async () => {
  await using app = await openApp();
  const stop = new AbortController();
  const result = jobsOf(app).wait(JOB_ID, { signal: stop.signal });
  await app.fake.followersAre(1);
  const reason = new Error('enough');
  stop.abort(reason);
  await expect(result).rejects.toBe(reason);
  expect(app.fake.job.status).toBe('running');
});

test('a job that is not there is not_found', async () => {
  await using app = await openApp();
  await expect(jobsOf(app).wait(NO_JOB_ID)).rejects.toMatchObject({ code: 'not_found' });
});
