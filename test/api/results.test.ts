import { JobResult, ResultLine } from '@crewboard/contracts';
import { expect, test } from 'vitest';
import { AS_ADMIN, openApp } from './open-app.ts';
import { aResultLine, JOB_ID, NO_JOB_ID } from './records.ts';

test('answers the result of a running job', async () => {
  await using app = await openApp();
  const answer = await fetch(`${app.url}/v1/jobs/${JOB_ID}/result`, { headers: AS_ADMIN });
  expect(JobResult.parse(await answer.json())).toMatchObject({ jobId: JOB_ID, status: 'running' });
});

test('streams one line a task', async () => {
  await using app = await openApp();
  app.fake.results = async function* () {
    for (let n = 1; n <= 1000; n++) yield aResultLine(n, 'two\nlines');
  };
  const answer = await fetch(`${app.url}/v1/jobs/${JOB_ID}/results.jsonl`, { headers: AS_ADMIN });
  expect(answer.headers.get('content-type')).toMatch(/^application\/x-ndjson/);
  const lines = (await answer.text()).trimEnd().split('\n');
  expect(lines.map((line) => ResultLine.parse(JSON.parse(line)).number)).toEqual(
    Array.from({ length: 1000 }, (_, index) => index + 1),
  );
});

test('a job that is not there is 404', async () => {
  await using app = await openApp();
  for (const path of ['result', 'results.jsonl']) {
    const answer = await fetch(`${app.url}/v1/jobs/${NO_JOB_ID}/${path}`, { headers: AS_ADMIN });
    expect(answer.status).toBe(404);
  }
});

test('an endless download is held back by its reader, and ends when that goes', async () => {
  await using app = await openApp();
  let produced = 0;
  const ended = new Promise<void>((resolve) => {
    app.fake.results = async function* () {
      try {
        for (;;) yield aResultLine(++produced, 'x'.repeat(16_384));
      } finally {
        resolve();
      }
    };
  });
  const gone = new AbortController();
  const answer = await fetch(`${app.url}/v1/jobs/${JOB_ID}/results.jsonl`, {
    headers: AS_ADMIN,
    signal: gone.signal,
  });
  await answer.body?.getReader().read();
  gone.abort();
  await ended;
  expect(produced).toBeLessThan(5000);
});

test('a download that fails half-way is cut, not ended as if it were whole', async () => {
  await using app = await openApp();
  app.fake.results = async function* () {
    yield aResultLine(1);
    throw new Error('redis has gone');
  };
  const answer = await fetch(`${app.url}/v1/jobs/${JOB_ID}/results.jsonl`, { headers: AS_ADMIN });
  await expect(answer.text()).rejects.toThrow();
});
