import { expect, test, vi } from 'vitest';
import { openScriptedStack, ownTask, titleOf } from '../regression/support.ts';
import { type Exposition, parseExposition } from '../support/exposition.ts';
import type { LocalStack } from '../support/local-stack.ts';
import { hang, httpError, reply, startScriptedApi, toolUse } from '../support/scripted-messages-api.ts';

const USAGE = {
  input_tokens: 1000,
  output_tokens: 500,
  cache_read_input_tokens: 300,
  cache_creation_input_tokens: 200,
};
/** A worker says every 5 s what it counts. */
const SAID_WITHIN_MS = 20_000;

async function scrape(local: LocalStack): Promise<Exposition> {
  const { status, type, text } = await local.call('GET', '/metrics');
  expect([status, type]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
  return parseExposition(text);
}

/** Scrapes until `isThere`, for what happens in other processes is heard of a little later. */
async function scrapeUntil(local: LocalStack, isThere: (all: Exposition) => boolean): Promise<Exposition> {
  return vi.waitFor(
    async () => {
      const all = await scrape(local);
      if (!isThere(all)) throw new Error('not said yet');
      return all;
    },
    { timeout: SAID_WITHIN_MS, interval: 250 },
  );
}

test('a scrape adds up to what the job itself counts and costs', async () => {
  let calls = 0;
  await using api = await startScriptedApi((request) => {
    calls += 1;
    if (calls === 1) return httpError(500, 'api_error');
    const taskId = ownTask(request);
    const ends =
      titleOf(request) === 'Bad'
        ? toolUse('board_fail', { taskId, reason: 'can not', retryable: false })
        : toolUse('board_submit', { taskId, summary: 'done' });
    return reply([ends], { usage: USAGE });
  });
  await using stack = await openScriptedStack(api);
  const { local } = stack;
  const titles = ['One', 'Two', 'Three', 'Four', 'Bad'];
  const { job } = await stack.run({ tasks: titles.map((title) => ({ title })) });
  expect(job).toMatchObject({ status: 'partial', counts: { completed: 4, failed: 1 } });

  const all = await scrapeUntil(
    local,
    ({ sum }) =>
      sum('crewboard_jobs_ended_total') === 1 && sum('crewboard_attempts_ended_total') === titles.length,
  );
  const { sum } = all;
  const ended = (labels: Record<string, string>) => sum('crewboard_attempts_ended_total', labels);
  expect(sum('crewboard_attempts_started_total', { holder: 'sub-agent' })).toBe(5);
  expect(ended({ holder: 'sub-agent', outcome: 'completed' })).toBe(job.counts.completed);
  expect(ended({ outcome: 'failed', class: 'model' })).toBe(job.counts.failed);
  expect(sum('crewboard_attempt_duration_seconds_count')).toBe(5);
  expect(sum('crewboard_jobs_started_total')).toBe(1);
  expect(sum('crewboard_jobs_ended_total', { status: 'partial' })).toBe(1);

  expect(sum('crewboard_model_calls_total')).toBe(api.requests.length);
  expect(sum('crewboard_model_calls_total', { outcome: 'ok' })).toBe(5);
  expect(sum('crewboard_model_calls_total', { outcome: 'transient' })).toBe(1);
  expect(sum('crewboard_model_call_duration_seconds_count')).toBe(api.requests.length);
  const { spend } = job;
  expect(sum('crewboard_tokens_total', { kind: 'input' })).toBe(spend.inputTokens);
  expect(sum('crewboard_tokens_total', { kind: 'output' })).toBe(spend.outputTokens);
  expect(sum('crewboard_tokens_total', { kind: 'cache_read' })).toBe(spend.cacheReadTokens);
  expect(sum('crewboard_tokens_total', { kind: 'cache_write' })).toBe(spend.cacheWriteTokens);
  expect(spend.settledUsd).toBeGreaterThan(0);
  expect(spend.wastedUsd).toBeGreaterThan(0);
  expect(sum('crewboard_spend_usd_total', { kind: 'settled' })).toBeCloseTo(spend.settledUsd, 9);
  expect(sum('crewboard_wasted_usd_total')).toBeCloseTo(spend.wastedUsd, 9);

  expect(sum('crewboard_sweeps_total', { outcome: 'swept' })).toBeGreaterThan(0);
  expect(sum('crewboard_redis_up')).toBe(1);
  expect(sum('crewboard_instances')).toBe(2);
  expect(all.samples.filter(({ name }) => name === 'nodejs_eventloop_lag_seconds')).toHaveLength(2);
  // What is bounded by nothing is in no label.
  const labels = JSON.stringify(all.samples.map((sample) => sample.labels));
  expect(labels).not.toMatch(/job_|t_[2-9a-z]{8}/);
});

test('a scrape tells of live jobs, their tasks, queues, and event streams that are open', async () => {
  await using api = await startScriptedApi([]);
  await using stack = await openScriptedStack(api);
  const { local } = stack;
  const { id } = await local.client.jobs.submit({
    tasks: [
      { title: 'By hand', key: 'a', executor: 'human' },
      { title: 'After it', dependsOn: ['a'], executor: 'human' },
    ],
  });
  const ending = new AbortController();
  const following = local.client.jobs.events(id, { signal: ending.signal })[Symbol.asyncIterator]();
  await following.next();
  const { sum } = await scrapeUntil(
    local,
    ({ sum: count }) =>
      count('crewboard_live_jobs') === 1 && count('crewboard_outbox_oldest_age_seconds') === 0,
  );
  expect(sum('crewboard_live_jobs_read')).toBe(1);
  expect(sum('crewboard_jobs', { status: 'running' })).toBe(1);
  expect(sum('crewboard_tasks', { status: 'pending' })).toBe(2);
  expect(sum('crewboard_pending_tasks', { readiness: 'waiting' })).toBe(1);
  expect(sum('crewboard_sse_streams')).toBe(1);
  expect(sum('crewboard_queue_jobs', { queue: 'crewboard.tasks' })).toBe(0);
  ending.abort();
  await scrapeUntil(local, ({ sum: count }) => count('crewboard_sse_streams') === 0);

  const { sum: after } = await scrape(local);
  const route = { method: 'GET', route: '/metrics', status: '200' };
  expect(after('crewboard_http_request_duration_seconds_count', route)).toBeGreaterThan(0);
});

test('attempts that others end are counted: by a cancel, and by a lease that ran out', async () => {
  await using api = await startScriptedApi(() => hang());
  await using stack = await openScriptedStack(api);
  const { local } = stack;
  const { id } = await local.client.jobs.submit({
    tasks: [{ title: 'Hangs' }, { title: 'Outside', key: 'outside', executor: 'external' }],
  });
  const claim = { owner: 'somebody', leaseMs: 1000 };
  expect(await local.call('POST', `/v1/jobs/${id}/tasks/claim`, claim)).toMatchObject({ status: 200 });
  await api.arrived(1);
  await scrapeUntil(local, ({ sum }) => sum('crewboard_lease_expiries_total') === 1);
  await local.client.jobs.cancel(id, 'over');
  const { sum } = await scrapeUntil(
    local,
    ({ sum: count }) =>
      count('crewboard_attempts_ended_total', { outcome: 'cancelled', holder: 'sub-agent' }) === 1 &&
      count('crewboard_jobs_ended_total') === 1 &&
      count('crewboard_model_calls_total') === 1,
  );
  expect(sum('crewboard_attempts_ended_total', { outcome: 'expired' })).toBe(1);
  expect(sum('crewboard_attempts_started_total', { holder: 'external' })).toBe(1);
  expect(sum('crewboard_jobs_ended_total', { status: 'cancelled' })).toBe(1);
  expect(sum('crewboard_model_calls_total', { outcome: 'aborted' })).toBe(1);
});
