import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JobBody } from '@crewboard/contracts';
import { expect, it } from 'vitest';
import { EXAMPLES, type LocalStack, openLocalStack } from '../support/local-stack.ts';
import { redisKeysOf } from './support/redis-keys.ts';

/** About two seconds. */
const SOON = { CREWBOARD_RETENTION_DAYS: '0.00002' };
const WITHIN = { timeout: 30_000 };

async function docsReview(): Promise<JobBody> {
  const body = JSON.parse(await readFile(join(EXAMPLES, 'docs-review.json'), 'utf8'));
  return { ...body, workspace: { path: join(EXAMPLES, 'docs') } };
}

/** What the API says of a job, conversations among it. */
async function readAll({ client, call }: LocalStack, jobId: string) {
  const { tasks } = await client.tasks.list(jobId, { limit: 100 });
  const texts = async (path: string) => (await call('GET', `/v1/jobs/${jobId}${path}`)).text;
  return {
    job: await client.jobs.get(jobId),
    tasks: await Promise.all(tasks.map(({ id }) => client.tasks.get(jobId, id))),
    transcripts: await Promise.all(tasks.map(({ id }) => client.tasks.transcript(jobId, id))),
    lead: await client.jobs.transcript(jobId),
    results: await texts('/results.jsonl'),
    result: await texts('/result'),
    events: await texts('/events'),
    artifacts: await texts('/artifacts'),
  };
}

it('takes a job out of Redis by itself once its time has come, and reads and deletes it as ever', {
  timeout: 90_000,
}, async () => {
  await using stack = await openLocalStack({ variables: SOON });
  const { client, store } = stack;
  const { id: jobId, status } = await stack.run(await docsReview());
  expect(status).toBe('succeeded');
  const before = await readAll(stack, jobId);
  expect(before.transcripts.every(({ entries }) => entries.length > 3)).toBe(true);
  await expect.poll(() => redisKeysOf(store, jobId), WITHIN).toEqual([]);
  expect(await readAll(stack, jobId)).toEqual(before);
  await expect(client.jobs.pause(jobId)).rejects.toMatchObject({ code: 'terminal' });
  expect((await client.jobs.list()).jobs.map(({ id }) => id)).toEqual([jobId]);

  await client.jobs.delete(jobId);
  await expect(client.jobs.get(jobId)).rejects.toMatchObject({ code: 'not_found' });
  expect((await client.jobs.list()).jobs).toEqual([]);
});

it('moves the journals of ended tasks while the job runs on, and a reopened one goes on with its own', {
  timeout: 90_000,
}, async () => {
  await using stack = await openLocalStack();
  const { client, store } = stack;
  const { id: jobId } = await stack.run(await docsReview());
  const journals = async () => (await redisKeysOf(store, jobId)).filter((key) => key.includes(':journal:'));
  await expect.poll(journals, WITHIN).toEqual([]);
  const [task] = (await client.tasks.list(jobId, { limit: 1 })).tasks;
  if (task === undefined) throw new Error('no task');
  const first = await client.tasks.transcript(jobId, task.id, { limit: 100 });
  await client.tasks.reopen(jobId, task.id, { version: task.version, reason: 'once more' });
  const attempts = async () => (await client.tasks.get(jobId, task.id)).attempt;
  await expect.poll(attempts, WITHIN).toBe(2);
  await expect.poll(async () => (await client.jobs.get(jobId)).status, WITHIN).toBe('succeeded');
  await expect.poll(journals, WITHIN).toEqual([]);
  const again = await client.tasks.transcript(jobId, task.id, { limit: 100 });
  expect(again.entries.slice(0, first.entries.length)).toEqual(first.entries);
  expect(again.entries.length).toBeGreaterThan(first.entries.length);
});
