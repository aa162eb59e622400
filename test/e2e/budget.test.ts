import { setTimeout as wait } from 'node:timers/promises';
import type { Job } from '@crewboard/contracts';
import { expect, it } from 'vitest';
import { ANN } from '../support/board.ts';
import { allText, type MessagesRequest, text, toolUse } from '../support/scripted-messages-api.ts';
import { openStack, type WorkerProcess } from '../support/stack.ts';

const TASKS = 20;
/** At 2 and 10 USD a million tokens: 0.096 USD a call. What a call may cost at most is about a cent more. */
const USAGE = {
  input_tokens: 8000,
  output_tokens: 8000,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
};
const CALL_USD = 0.096;

/** What the server would charge for its replies: for each that it has made, whether or not anybody took it. */
const bill = { usd: 0 };

/** What the tokens of a spend cost. */
const priceOf = ({ inputTokens, outputTokens }: Pick<Job['spend'], 'inputTokens' | 'outputTokens'>) =>
  (inputTokens * 2 + outputTokens * 10) / 1e6;

const total = ({ settledUsd, estimatedUsd, reservedUsd }: Job['spend']) =>
  settledUsd + estimatedUsd + reservedUsd;

/** Each task is one call, which submits its result; with too few tokens for that it is cut. */
function answer(request: MessagesRequest) {
  const usage = { ...USAGE, output_tokens: Math.min(USAGE.output_tokens, request.max_tokens) };
  bill.usd += priceOf({ inputTokens: usage.input_tokens, outputTokens: usage.output_tokens });
  if (request.max_tokens < USAGE.output_tokens)
    return { content: [text('This is too lo')], stopReason: 'max_tokens', usage };
  const taskId = /"taskId":"(t_\w{8})"/.exec(allText(request))?.[1] ?? '';
  return { content: [toolUse('board_submit', { taskId, summary: 'done' })], stopReason: 'tool_use', usage };
}

it('keeps 20 parallel calls of ten cents under a cap of one dollar, pays for a killed worker’s, and goes on after a raise', async () => {
  await using stack = await openStack({ answer, variables: { CREWBOARD_CONCURRENCY: '20' } });
  const { client, boards, model } = stack;
  const first = await stack.startWorker();
  const second = await stack.startWorker();
  const held = model.hold(() => true);
  const { id } = await client.jobs.submit({
    tasks: Array.from({ length: TASKS }, (_, i) => ({ key: `k${i}`, title: `Task ${i}` })),
    limits: { maxParallel: TASKS, budgetUsd: 1 },
  });

  let cap = 1;
  let highest = 0;
  const look = async () => {
    const { spend } = await client.jobs.get(id);
    expect(total(spend)).toBeLessThanOrEqual(cap);
    expect(bill.usd).toBeLessThanOrEqual(cap);
    highest = Math.max(highest, total(spend));
  };
  const polling = new AbortController();
  const polled = (async () => {
    while (!polling.signal.aborted) {
      await look();
      await wait(20, undefined, { signal: polling.signal }).catch(() => {});
    }
  })();
  polled.catch(() => {});
  // And at every event, in their order.
  const looks: Promise<void>[] = [];
  const following = stack.untilEnded(id, () => looks.push(look()));
  following.catch(() => {});

  // As many as fit at their worst are sent at once; the other tasks wait for what these really cost.
  await held.arrived(9);
  const callsOf = ({ authorization }: WorkerProcess) =>
    model.requests.filter(({ headers }) => headers.authorization === authorization).length;
  const victim = callsOf(first) > callsOf(second) ? first : second;
  const lost = callsOf(victim);
  await victim.kill();
  held.open();

  const state = async () => {
    const { pauses, spend } = await client.jobs.get(id);
    return { pauses, reservedUsd: spend.reservedUsd };
  };
  await expect
    .poll(state, { timeout: 60_000, interval: 100 })
    .toEqual({ pauses: ['budget'], reservedUsd: 0 });
  const job = await client.jobs.get(id);
  expect(job.statusReason).toMatch(/^budget: of 1\.0000 USD 0\.9\d{3} USD are spent/);
  expect(job.spend.settledUsd).toBeCloseTo(priceOf(job.spend), 9);
  expect(job.spend.estimatedUsd).toBeGreaterThan(lost * CALL_USD);
  expect(job.counts.completed).toBeLessThan(TASKS);
  expect(job.counts.failed).toBe(0);

  cap = 4;
  await boards.setBudget(id, ANN, { budgetUsd: cap });
  const ended = await following;
  polling.abort();
  await polled;
  await Promise.all(looks);
  expect(ended).toMatchObject({ status: 'succeeded', counts: { completed: TASKS } });
  expect(ended.limits.budgetUsd).toBe(cap);
  expect(ended.spend.settledUsd).toBeCloseTo(priceOf(ended.spend), 9);
  expect(ended.spend.settledUsd).toBeGreaterThanOrEqual(TASKS * CALL_USD);
  // The board has paid for all that the server charges: what the killed worker had sent at its worst.
  const { settledUsd, estimatedUsd } = ended.spend;
  expect(bill.usd).toBeLessThanOrEqual(settledUsd + estimatedUsd);
  expect(bill.usd - lost * CALL_USD).toBeCloseTo(settledUsd, 9);
  expect(estimatedUsd).toBe(job.spend.estimatedUsd);
  expect(ended.spend).toMatchObject({ reservedUsd: 0, wastedUsd: 0 });
  expect(highest).toBeGreaterThan(0.9);
  expect((await boards.examine(id)).findings).toEqual([]);
}, 180_000);
