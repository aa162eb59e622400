import type { ResultLine } from '@crewboard/contracts';
import { expect, it, vi } from 'vitest';
import { openScriptedStack, ownTask, repliesIn, type ScriptedStack, titleOf } from '../regression/support.ts';
import {
  lastResults,
  type MessagesRequest,
  reply,
  type ScriptedApi,
  startScriptedApi,
  toolUse,
} from '../support/scripted-messages-api.ts';

vi.setConfig({ testTimeout: 180_000 });

const ROWS = 1000;
/** Every 33rd row, up to 30 of them. */
const isBad = (row: number) => row % 33 === 0 && row <= 990;
const BAD = 30;

const rows = Array.from({ length: ROWS }, (_, i) => ({ row: i + 1, name: `Row ${i + 1}'s name` }));
const body = {
  map: {
    items: rows,
    task: {
      key: 'row/{row}',
      title: 'Classify row {row}',
      instructions: 'Say whether {name} is even. Braces: {{row}}.',
      outputSchema: {
        type: 'object',
        properties: { row: { type: 'integer' }, isEven: { type: 'boolean' } },
        required: ['row', 'isEven'],
        additionalProperties: false,
      },
      maxAttempts: 1,
    },
  },
  limits: { maxParallel: 64 },
};

/** Fills every row; bad ones get no output that fits until they are `mended`, and their model gives up. */
async function startClassifier(): Promise<ScriptedApi & { mended: boolean; begun: string[] }> {
  const state = { mended: false, begun: [] as string[] };
  const answer = (request: MessagesRequest) => {
    const title = titleOf(request);
    const row = Number(/\d+$/.exec(title)?.[0]);
    if (repliesIn(request) === 0) state.begun.push(title);
    const taskId = ownTask(request);
    const [last] = lastResults(request);
    if (last?.isError) return reply([toolUse('board_fail', { taskId, reason: 'I can not tell' })]);
    const isEven = isBad(row) && !state.mended ? 'perhaps' : row % 2 === 0;
    return reply([toolUse('board_submit', { taskId, summary: `row ${row}`, output: { row, isEven } })]);
  };
  const api = await startScriptedApi(answer);
  return Object.assign(state, api);
}

async function linesOf({ local }: ScriptedStack, jobId: string): Promise<ResultLine[]> {
  const lines: ResultLine[] = [];
  for await (const line of local.client.jobs.results(jobId)) lines.push(line);
  return lines;
}

async function untilEnded({ local }: ScriptedStack, jobId: string, after: string): Promise<void> {
  for await (const _ of local.client.jobs.events(jobId, { after })) {
    // Followed for its end alone.
  }
}

it('1,000 rows by a map, of which 30 fail: results in input order, and a rerun runs exactly those 30', async () => {
  await using api = await startClassifier();
  await using stack = await openScriptedStack(api, { variables: { CREWBOARD_CONCURRENCY: '64' } });
  const { client } = stack.local;
  const { id, status } = await client.jobs.submit(body);
  expect(status).toBe('running');
  await untilEnded(stack, id, '0-0');
  const before = await linesOf(stack, id);
  expect(before.map(({ key, number }) => [key, number])).toEqual(rows.map(({ row }) => [`row/${row}`, row]));
  const failed = before.filter((line) => line.status === 'failed');
  expect(failed.map(({ key }) => key)).toEqual(
    rows.filter(({ row }) => isBad(row)).map(({ row }) => `row/${row}`),
  );
  expect(failed).toHaveLength(BAD);
  expect(await client.jobs.get(id)).toMatchObject({
    status: 'partial',
    counts: { total: ROWS, completed: ROWS - BAD, failed: BAD },
  });
  expect(await client.tasks.get(id, before[6]?.taskId ?? '')).toMatchObject({
    instructions: "Say whether Row 7's name is even. Braces: {row}.",
    input: rows[6],
  });

  const failing = { where: { status: 'failed' as const } };
  const wrong = client.jobs.rerun(id, { ...failing, expectCount: BAD + 1 });
  await expect(wrong).rejects.toMatchObject({ code: 'stale_version', extras: { matched: BAD } });
  expect(await linesOf(stack, id)).toEqual(before);

  api.mended = true;
  api.begun.length = 0;
  const { asOf = '' } = await client.tasks.list(id);
  const again = { ...failing, expectCount: BAD, instructions: 'Answer true or false.' };
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => client.jobs.rerun(id, again, { idempotencyKey: 'once' })),
  );
  for (const answer of answers) expect(answer).toMatchObject({ jobId: id, matched: BAD });
  await untilEnded(stack, id, asOf);
  expect(api.begun.toSorted()).toEqual(
    rows
      .filter(({ row }) => isBad(row))
      .map(({ row }) => `Classify row ${row}`)
      .toSorted(),
  );
  expect(await client.jobs.get(id)).toMatchObject({
    status: 'succeeded',
    counts: { total: ROWS, completed: ROWS, failed: 0 },
  });
  const after = await linesOf(stack, id);
  expect(after.filter(({ number }) => !isBad(number))).toEqual(before.filter(({ number }) => !isBad(number)));
  expect(after.map(({ output }) => output)).toEqual(rows.map(({ row }) => ({ row, isEven: row % 2 === 0 })));
  expect(await client.tasks.get(id, failed[0]?.taskId ?? '')).toMatchObject({
    instructions: `Say whether Row 33's name is even. Braces: {row}.\n\nAnswer true or false.`,
  });
});
