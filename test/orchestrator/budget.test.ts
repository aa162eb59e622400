import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JobBody } from '@crewboard/contracts';
import { describe, expect, it } from 'vitest';
import { boardsOf } from '../support/boards-of.ts';
import { type LocalStackOptions, openLocalStack } from '../support/local-stack.ts';
import {
  allText,
  type MessagesRequest,
  offersTool,
  reply,
  startScriptedApi,
  toolUse,
} from '../support/scripted-messages-api.ts';

const KEY = 'test-provider-key';
/** At 2 and 10 USD a million tokens: 0.021 USD a call. */
const USAGE = { input_tokens: 5500, output_tokens: 1000 };

const ownTask = (request: MessagesRequest) => /"taskId":"(t_\w{8})"/.exec(allText(request))?.[1] ?? '';
const submits = (request: MessagesRequest) =>
  reply([toolUse('board_submit', { taskId: ownTask(request), summary: 'done' })], { usage: USAGE });
/** Says something first, so that a task is two calls. */
const notesAndSubmits = (request: MessagesRequest) =>
  request.messages.length > 1
    ? submits(request)
    : reply([toolUse('board_note', { taskId: ownTask(request), text: 'begun' })], { usage: USAGE });

async function openWith(
  script: (request: MessagesRequest) => ReturnType<typeof reply>,
  options: LocalStackOptions = {},
) {
  const api = await startScriptedApi(script);
  const stack = await openLocalStack({ provider: { url: api.url, key: KEY }, ...options });
  const boards = boardsOf(stack);
  return {
    api,
    stack,
    boards,
    async [Symbol.asyncDispose]() {
      await stack[Symbol.asyncDispose]();
      await api.stop();
    },
  };
}

const UNPRICED: JobBody = { tasks: [{ title: 'One' }], models: { worker: 'somebodys-model' } };
const PRICE_FILE = { 'somebodys-model': { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 } };

describe('a model without a price', () => {
  it.each<[string, JobBody, string]>([
    ['of the job’s tasks', { ...UNPRICED, limits: { budgetUsd: 1 } }, 'models.worker'],
    [
      'of its lead',
      { goal: 'Do it', models: { lead: 'somebodys-model' }, limits: { budgetUsd: 1 } },
      'models.lead',
    ],
    [
      'of one task',
      { tasks: [{ title: 'One', model: 'somebodys-model' }], limits: { budgetUsd: 1 } },
      'tasks[0].model',
    ],
    [
      'of a task with a budget of its own',
      { ...UNPRICED, tasks: [{ title: 'One', limits: { budgetUsd: 1 } }] },
      'models.worker',
    ],
  ])('is refused with a budget in USD: %s', async (_, body, path) => {
    await using run = await openWith(submits, { worker: false });
    const submitting = run.stack.client.jobs.submit(body);
    await expect(submitting).rejects.toMatchObject({ code: 'invalid_argument', extras: { path } });
    await expect(submitting).rejects.toThrow(/"somebodys-model".*CREWBOARD_PRICE_FILE/);
    expect((await run.stack.keys()).filter((key) => key.includes('job_'))).toEqual([]);
  });

  it('is refused for tasks that are added to a job with a budget', async () => {
    await using run = await openWith(submits, { worker: false });
    const { id } = await run.stack.client.jobs.submit({
      tasks: [{ title: 'One' }],
      limits: { budgetUsd: 1 },
    });
    const answer = await run.stack.call('POST', `/v1/jobs/${id}/tasks`, {
      tasks: [{ title: 'Two', model: 'somebodys-model' }],
    });
    expect(answer).toMatchObject({ status: 400, json: { code: 'invalid_argument', path: 'tasks[0].model' } });
    const [task] = (await run.boards.page(id, { after: 0, limit: 1 })).tasks;
    const edit = { version: task?.version, model: 'somebodys-model' };
    const edited = await run.stack.call('PATCH', `/v1/jobs/${id}/tasks/${task?.id}`, edit);
    expect(edited).toMatchObject({ status: 400, json: { code: 'invalid_argument', path: 'model' } });
  });

  it('is refused when a job that calls it gets a budget', async () => {
    await using run = await openWith(submits, { worker: false });
    const { id } = await run.stack.client.jobs.submit(UNPRICED);
    const patch = { version: 1, limits: { budgetUsd: 1 } };
    const answer = await run.stack.call('PATCH', `/v1/jobs/${id}`, patch);
    expect(answer).toMatchObject({ status: 400, json: { code: 'invalid_argument', path: 'models.worker' } });
  });

  it('runs without a budget: its tokens are counted, its money is not known', async () => {
    await using run = await openWith(submits);
    const job = await run.stack.run(UNPRICED);
    expect(job).toMatchObject({ status: 'succeeded', spend: { settledUsd: 0, inputTokens: 5500 } });
  });

  it('has one by the price file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'crewboard-test-prices-'));
    try {
      const file = join(folder, 'prices.json');
      await writeFile(file, JSON.stringify(PRICE_FILE));
      await using run = await openWith(submits, { variables: { CREWBOARD_PRICE_FILE: file } });
      const job = await run.stack.run({ ...UNPRICED, limits: { budgetUsd: 1 } });
      expect(job).toMatchObject({ status: 'succeeded', spend: { settledUsd: 0.0065 } });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('is not helped by a price file that is not there', async () => {
    const opening = openWith(submits, { variables: { CREWBOARD_PRICE_FILE: '/nowhere/prices.json' } });
    await expect(opening).rejects.toThrow(/CREWBOARD_PRICE_FILE names \/nowhere\/prices\.json/);
  });
});

describe('spend', () => {
  it('is true in job, result, tasks and attempts, also without a cap', async () => {
    await using run = await openWith(notesAndSubmits);
    const job = await run.stack.run({ tasks: [{ title: 'One' }, { title: 'Two' }] });
    const spend = {
      settledUsd: 0.084,
      estimatedUsd: 0,
      reservedUsd: 0,
      wastedUsd: 0,
      inputTokens: 22_000,
      outputTokens: 4000,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
    };
    expect(job.spend).toEqual(spend);
    expect((await run.stack.client.jobs.result(job.id)).spend).toEqual(spend);
    const usage = { modelCalls: 2, settledUsd: 0.042, estimatedUsd: 0, reservedUsd: 0 };
    const { tasks } = await run.boards.page(job.id, { after: 0, limit: 2 });
    expect(tasks).toMatchObject([{ usage }, { usage }]);
    expect(await run.boards.attempts(job.id, tasks[0]?.id ?? '', 1)).toMatchObject([{ usage }]);
    const lines = await run.stack.call('GET', `/v1/jobs/${job.id}/results.jsonl`);
    expect(JSON.parse(lines.text.split('\n')[0] ?? '')).toMatchObject({ usage });
    expect((await run.boards.examine(job.id)).findings).toEqual([]);
  });

  it('of the simulated model is nothing, under any budget', async () => {
    await using stack = await openLocalStack();
    const job = await stack.run({ tasks: [{ title: 'One' }], limits: { budgetUsd: 0.000001 } });
    expect(job).toMatchObject({ status: 'succeeded', simulated: true, spend: { settledUsd: 0 } });
    expect(job.spend.outputTokens).toBeGreaterThan(0);
  });
});

describe('a budget that is used up', () => {
  const tasksOf = (count: number) => Array.from({ length: count }, (_, i) => ({ title: `Task ${i}` }));

  it('in tokens pauses the job without a failure, and a raise lets it complete', async () => {
    await using run = await openWith(submits);
    const limits = { budgetTokens: 30_000, maxParallel: 1 };
    const { id } = await run.stack.client.jobs.submit({ tasks: tasksOf(6), limits });
    const job = () => run.stack.client.jobs.get(id);
    await expect.poll(async () => (await job()).pauses, { timeout: 20_000 }).toEqual(['budget']);
    const paused = await job();
    expect(paused.statusReason).toMatch(/^budget: of 30000 tokens \d+ tokens are spent/);
    expect(paused.counts).toMatchObject({ failed: 0, in_progress: 0 });
    expect(paused.counts.completed).toBeGreaterThan(1);
    const patch = { version: paused.version, limits: { budgetTokens: 1_000_000 } };
    const raised = await run.stack.call('PATCH', `/v1/jobs/${id}`, patch);
    expect(raised).toMatchObject({ status: 200, json: { pauses: [], limits: { budgetTokens: 1_000_000 } } });
    await expect.poll(async () => (await job()).status, { timeout: 20_000 }).toBe('succeeded');
  });

  it('of one task fails that task as `budget`, and no other', async () => {
    await using run = await openWith(notesAndSubmits);
    const tasks = [{ title: 'Poor', limits: { budgetUsd: 0.045 } }, ...tasksOf(3)];
    const job = await run.stack.run({ tasks });
    expect(job).toMatchObject({ status: 'partial', counts: { completed: 3, failed: 1 } });
    const [failed] = (await run.boards.page(job.id, { after: 0, limit: 1 })).tasks;
    expect(failed).toMatchObject({ status: 'failed', attempt: 1, failure: { class: 'budget' } });
    expect(failed?.failure?.reason).toMatch(/^of 0\.0450 USD 0\.0210 USD are spent/);
    expect(job.spend.wastedUsd).toBeCloseTo(0.021, 9);
  });

  it('ends the job as failed when it is to fail', async () => {
    await using run = await openWith(submits);
    const limits = { budgetUsd: 0.1, maxParallel: 1, onLimit: 'fail' as const };
    const job = await run.stack.run({ tasks: tasksOf(6), limits });
    expect(job.status).toBe('failed');
    expect(job.statusReason).toMatch(/^budget: /);
    expect(job.counts.completed).toBeGreaterThan(0);
    expect(job.spend.settledUsd).toBeLessThanOrEqual(0.1);
  });

  it('ends a job without a lead as partial when it is to finish', async () => {
    await using run = await openWith(submits);
    const limits = { budgetUsd: 0.1, maxParallel: 1, onLimit: 'finish' as const };
    const job = await run.stack.run({ tasks: tasksOf(6), limits });
    expect(job).toMatchObject({ status: 'partial', statusReason: 'budget: the budget is used up' });
    expect(job.counts.completed + job.counts.cancelled).toBe(6);
    expect((await run.boards.examine(job.id)).findings).toEqual([]);
  });

  it('has a lead told of it, which finishes with what is there', async () => {
    const leads: string[] = [];
    await using run = await openWith((request) => {
      if (!offersTool(request, 'finish_job')) return submits(request);
      leads.push(allText(request));
      const usage = { input_tokens: 100, output_tokens: 50 };
      const isOver =
        allText(request).includes('budget.exhausted') && allText(request).includes('"allSettled":true');
      return reply(
        [isOver ? toolUse('finish_job', { summary: 'as far as it went' }) : toolUse('board_wait')],
        { usage },
      );
    });
    const job = await run.stack.run({
      goal: 'Do it',
      tasks: tasksOf(24),
      limits: { budgetUsd: 1, maxParallel: 2, onLimit: 'finish' },
      models: { worker: 'claude-opus-5-5' },
    });
    expect(job).toMatchObject({ status: 'partial', statusReason: 'budget: the budget is used up' });
    expect(job.counts.completed).toBeGreaterThan(0);
    expect(job.counts.cancelled).toBeGreaterThan(0);
    expect(leads.at(-1)).toContain('budget.exhausted');
    expect((await run.stack.client.jobs.result(job.id)).summary).toBe('as far as it went');
  });

  it('has left enough for a lead of an everyday conversation to finish, under a cap of 1 USD', async () => {
    const lead = { input_tokens: 6500, output_tokens: 300 };
    const worker = { input_tokens: 14_000, output_tokens: 1000 };
    await using run = await openWith((request) => {
      if (!offersTool(request, 'finish_job')) {
        const call = toolUse('board_submit', { taskId: ownTask(request), summary: 'done' });
        return reply([call], { usage: worker });
      }
      const isSettled = allText(request).includes('"allSettled":true');
      return reply(
        [isSettled ? toolUse('finish_job', { summary: 'what there is' }) : toolUse('board_wait')],
        {
          usage: lead,
        },
      );
    });
    const job = await run.stack.run({
      goal: `Do it. ${'Mind the rest. '.repeat(400)}`,
      tasks: tasksOf(30),
      limits: { budgetUsd: 1, onLimit: 'finish' },
    });
    expect(job).toMatchObject({ status: 'partial', statusReason: 'budget: the budget is used up' });
    expect(job.counts.cancelled).toBeGreaterThan(0);
    expect((await run.stack.client.jobs.result(job.id)).summary).toBe('what there is');
    expect(job.spend.settledUsd).toBeLessThanOrEqual(1);
  });
});
