import { createClient } from '@crewboard/client';
import { type JobBody, newSecret, type ResultLine } from '@crewboard/contracts';
import { describe, expect, inject, it } from 'vitest';
import type { Answer } from '../support/held-model.ts';
import { openLocalStack } from '../support/local-stack.ts';
import { openRedisWire } from '../support/redis-wire.ts';
import { allText } from '../support/scripted-messages-api.ts';
import { startService } from '../support/service-process.ts';
import { API_KEY, openStack, type Stack } from '../support/stack.ts';

/** The embedded server copies values at each access: a tenth shows the same there. */
const ROWS = inject('redisKind') === 'embedded' ? 100 : 1000;
const FAILING = ROWS * 0.03;
const STEP = Math.floor(ROWS / FAILING);
const isFailing = (row: number) => row % STEP === 0 && row < STEP * FAILING;
const JOB_MS = 240_000;

const USAGE = {
  input_tokens: 100,
  output_tokens: 10,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
};

function call(name: string, input: Record<string, unknown>) {
  const use = { type: 'tool_use' as const, id: `toolu_${newSecret()}`, name, input };
  return { content: [use], stopReason: 'tool_use', usage: USAGE };
}

/** Fills a row in one turn; `fails` says for which of them it gives up instead. */
const filling =
  (fails: (row: number, text: string) => boolean): Answer =>
  (request) => {
    const text = allText(request);
    const taskId = /"taskId":"(t_[^"]+)"/.exec(text)?.[1];
    const row = Number(/"row":(\d+)/.exec(text)?.[1]);
    if (fails(row, text))
      return call('board_fail', { taskId, reason: 'the row makes no sense', retryable: false });
    return call('board_submit', { taskId, summary: 'filled', output: { row, double: row * 2 } });
  };

const rows = (count: number): JobBody => ({
  map: {
    items: Array.from({ length: count }, (_, row) => ({ row, name: `Name ${row}` })),
    task: {
      title: 'Row {row}: {name}',
      key: 'row-{row}',
      instructions: 'Double the number of {name}.',
      outputSchema: {
        type: 'object',
        required: ['row', 'double'],
        properties: { row: { type: 'integer' }, double: { type: 'integer' } },
      },
    },
  },
  limits: { maxParallel: 16 },
});

async function resultsOf(stack: Pick<Stack, 'client'>, id: string) {
  const lines: ResultLine[] = [];
  for await (const line of stack.client.jobs.results(id)) lines.push(line);
  return lines;
}

describe('a map and its rerun', () => {
  it(`fills ${ROWS} rows in input order, and runs exactly the ${FAILING} that failed again`, {
    timeout: JOB_MS,
  }, async () => {
    let isMended = false;
    await using stack = await openStack({
      answer: filling((row) => !isMended && isFailing(row)),
      variables: { CREWBOARD_CONCURRENCY: '16', CREWBOARD_LEASE_MS: '30000', CREWBOARD_LOG_LEVEL: 'warn' },
    });
    await stack.startWorker();
    const { id } = await stack.client.jobs.submit(rows(ROWS));
    expect((await stack.untilEnded(id)).status).toBe('partial');
    const before = await resultsOf(stack, id);
    expect(before.map(({ key }) => key)).toEqual(Array.from({ length: ROWS }, (_, row) => `row-${row}`));
    expect(before.filter(({ status }) => status === 'failed')).toHaveLength(FAILING);
    const done = before.filter(({ status }) => status === 'completed');
    const doneIds = done.map(({ taskId }) => taskId);
    const tasksBefore = await stack.boards.readTasks(id, doneIds, true);

    isMended = true;
    const asked = stack.model.requests.length;
    const body = {
      where: { status: 'failed' as const },
      expectCount: FAILING,
      instructions: 'Round nothing.',
    };
    const all = await Promise.all(
      Array.from({ length: 20 }, () => stack.client.jobs.rerun(id, body, { idempotencyKey: 'again' })),
    );
    expect(all.map(({ rerun, matched }) => [rerun, matched])).toEqual(all.map(() => [1, FAILING]));
    expect((await stack.untilEnded(id)).status).toBe('succeeded');
    const again = stack.model.requests.slice(asked).map(({ body: request }) => allText(request));
    expect(again).toHaveLength(FAILING);
    for (const text of again) expect(text).toContain('Round nothing.');
    const after = await resultsOf(stack, id);
    expect(after.map(({ taskId }) => taskId)).toEqual(before.map(({ taskId }) => taskId));
    expect(after.map(({ output }) => output)).toEqual(
      Array.from({ length: ROWS }, (_, row) => ({ row, double: row * 2 })),
    );
    expect(after.filter(({ taskId }) => doneIds.includes(taskId))).toEqual(done);
    expect(await stack.boards.readTasks(id, doneIds, true)).toEqual(tasksBefore);
  });
});

/** Another API of the stack, with a way to Redis that the test can cut. */
async function startSecondApi(stack: Stack) {
  const wire = await openRedisWire(stack.store.url);
  const variables = {
    REDIS_URL: wire.url,
    ANTHROPIC_BASE_URL: stack.model.url,
    ANTHROPIC_API_KEY: 'model-key-of-another-api',
    CREWBOARD_PREFIX: stack.store.prefix,
    CREWBOARD_API_KEY: API_KEY,
    CREWBOARD_PORT: '0',
    CREWBOARD_DATA_DIR: stack.dataDir,
  };
  const api = await startService('api', variables, stack.dataDir);
  return {
    client: createClient({ baseUrl: api.url ?? '', apiKey: API_KEY, retries: { tries: 0 } }),
    wire,
    kill: () => api.kill(),
    async [Symbol.asyncDispose]() {
      await api[Symbol.asyncDispose]();
      await wire[Symbol.asyncDispose]();
    },
  };
}

describe('a rerun whose process is killed (-9) in its middle', () => {
  /** More than a slice. */
  const TASKS = 300;
  /** The call of a slice: number of the rerun, tasks at most. */
  const SLICE = /\r\n\$1\r\n1\r\n\$3\r\n250\r\n/;

  it.each(['before', 'after'] as const)(
    '%s its second slice is carried on, each task once',
    {
      timeout: JOB_MS,
    },
    async (when) => {
      let isMended = false;
      await using stack = await openStack({
        answer: filling(() => !isMended),
        variables: { CREWBOARD_CONCURRENCY: '16', CREWBOARD_LEASE_MS: '30000', CREWBOARD_LOG_LEVEL: 'warn' },
      });
      await stack.startWorker();
      const { id } = await stack.client.jobs.submit(rows(TASKS));
      expect((await stack.untilEnded(id)).status).toBe('failed');
      isMended = true;
      const asked = stack.model.requests.length;
      await using victim = await startSecondApi(stack);
      const cut = victim.wire.freezeAt({ words: SLICE, nth: 2, when });
      const body = { where: { status: 'failed' as const } };
      const options = { idempotencyKey: 'again' };
      const unheard = expect(victim.client.jobs.rerun(id, body, options)).rejects.toMatchObject({
        code: 'unavailable',
      });
      await cut;
      await victim.kill();
      await unheard;
      expect((await stack.untilEnded(id)).status).toBe('succeeded');
      expect(await stack.client.jobs.rerun(id, body, options)).toMatchObject({
        rerun: 1,
        matched: TASKS,
        reopened: TASKS,
        skipped: 0,
        left: 0,
      });
      expect(stack.model.requests).toHaveLength(asked + TASKS);
      expect((await stack.boards.examine(id)).findings).toEqual([]);
    },
  );
});

describe('a dry run', () => {
  it('says what would happen, refuses what a submit would refuse, and leaves Redis as it was', async () => {
    await using stack = await openLocalStack({ worker: false });
    await stack.call('GET', '/v1/jobs');
    // The queues of both providers say in Redis that they are there.
    const queues = async () => (await stack.keys()).filter((key) => key.endsWith(':meta')).length;
    await expect.poll(queues).toBe(4);
    const before = await stack.dump();
    const body = { ...rows(30), tasks: [{ title: 'All', key: 'all', dependsOn: ['row-1'] }] };
    const answer = await stack.client.jobs.dryRun(body, { idempotencyKey: 'k' });
    expect(answer).toMatchObject({
      dryRun: true,
      project: 'default',
      status: 'running',
      tasks: { total: 31, ready: 30, waiting: 1, held: 0 },
      startsAtOnce: 16,
      limits: { maxParallel: 16, maxTasks: 10_000 },
      simulated: true,
    });
    for (const waits of [{ hold: true }, { plan: { approve: true } }]) {
      const { tasks, startsAtOnce } = await stack.client.jobs.dryRun({ ...body, ...waits });
      expect(tasks).toEqual({ total: 31, ready: 0, waiting: 0, held: 31 });
      expect(startsAtOnce).toBe(0);
    }
    expect(answer.first.slice(0, 2)).toEqual([
      { number: 1, title: 'All', key: 'all', dependsOn: [{ task: 'row-1', condition: 'completed' }] },
      { number: 2, title: 'Row 0: Name 0', key: 'row-0', dependsOn: [] },
    ]);
    for (const wrong of [
      { ...body, limits: { maxTasks: 30 } },
      { ...body, tasks: [{ title: 'A', dependsOn: ['nowhere'] }] },
      { ...body, workspace: { path: '/nowhere' } },
      { ...body, models: { judge: 'x' } },
      { map: { items: [{}], task: { title: '{x}' } } },
    ]) {
      const real = await stack.call('POST', '/v1/jobs', wrong);
      const dry = await stack.call('POST', '/v1/jobs', { ...wrong, dryRun: true });
      expect(dry.status).toBeGreaterThanOrEqual(400);
      expect(dry.json).toEqual(real.json);
    }
    const lacking = { map: { items: [1, 2], task: { title: 'T', dependsOn: ['nowhere'] } } };
    expect(await stack.call('POST', '/v1/jobs', { ...lacking, tasks: [{ title: 'A' }] })).toMatchObject({
      status: 422,
      json: { code: 'unknown_dependency', path: 'map.items[0]' },
    });
    expect((await stack.call('POST', '/v1/jobs', { ...body, dryRun: true })).status).toBe(200);
    expect(await stack.dump()).toEqual(before);

    const { id } = await stack.client.jobs.submit(body, { idempotencyKey: 'k' });
    expect((await stack.client.jobs.dryRun(body, { idempotencyKey: 'k' })).warnings.join()).toContain(id);
    const other = { ...body, title: 'Other' };
    await expect(stack.client.jobs.dryRun(other, { idempotencyKey: 'k' })).rejects.toMatchObject({
      code: 'idempotency_mismatch',
    });
  });
});
