import { describe, expect, it } from 'vitest';
import { openLocalStack } from '../support/local-stack.ts';
import {
  allText,
  cutStream,
  httpError,
  isProbe,
  overloaded,
  rateLimited,
  reply,
  type ScriptedReply,
  startScriptedApi,
  text,
  toolUse,
} from '../support/scripted-messages-api.ts';

const KEY = 'test-provider-key';
const USAGE = { input_tokens: 5500, output_tokens: 1000 };
/** What the call that ends the task costs, at 2 and 10 USD a million tokens. */
const SUBMIT_USD = 0.021;
const TOO_LONG = () =>
  httpError(400, 'invalid_request_error', {}, 'prompt is too long: 9 tokens > 8 maximum');

/** Runs one task whose first model call goes wrong, and returns the job at its end. */
async function jobAfter(failure: () => ScriptedReply) {
  let failed = false;
  await using api = await startScriptedApi((request) => {
    if (isProbe(request)) return reply([text('ok')], { usage: { input_tokens: 0, output_tokens: 0 } });
    if (!failed) {
      failed = true;
      return failure();
    }
    const taskId = /"taskId":"(t_\w{8})"/.exec(allText(request))?.[1] ?? '';
    return reply([toolUse('board_submit', { taskId, summary: 'done' })], { usage: USAGE });
  });
  await using stack = await openLocalStack({
    provider: { url: api.url, key: KEY },
    variables: { CREWBOARD_MODEL_TRIES: '3', CREWBOARD_MODEL_RETRY_MS: '20' },
  });
  return await stack.run({ tasks: [{ title: 'One' }], limits: { budgetUsd: 1, maxAttempts: 1 } });
}

describe('a usage that no model can have', () => {
  it('is held at a limit: the sums stay true, and the attempts can be read', async () => {
    const absurd = { input_tokens: Number.MAX_SAFE_INTEGER, output_tokens: Number.MAX_SAFE_INTEGER };
    await using api = await startScriptedApi((request) => {
      const taskId = /"taskId":"(t_\w{8})"/.exec(allText(request))?.[1] ?? '';
      return reply([toolUse('board_submit', { taskId, summary: 'done' })], { usage: absurd });
    });
    await using stack = await openLocalStack({ provider: { url: api.url, key: KEY } });
    const { id, spend } = await stack.run({ tasks: [{ title: 'One' }] });
    expect(spend.inputTokens).toBe(100_000_000);
    // 100 million tokens of each at 2 and 10 USD a million.
    expect(spend.settledUsd).toBe(1200);
    const [task] = (await stack.client.tasks.list(id)).tasks;
    const { attempts } = await stack.client.tasks.attempts(id, task?.id ?? '');
    expect(attempts).toHaveLength(1);
  });
});

describe('a model call that failed, behind the governor and under a budget', () => {
  it.each<[string, () => ScriptedReply, number]>([
    ['529', () => overloaded(), SUBMIT_USD],
    ['429', () => rateLimited(0), SUBMIT_USD],
    ['500', () => httpError(500, 'api_error'), SUBMIT_USD],
    ['400 for its length', TOO_LONG, 0],
    ['413', () => httpError(413, 'request_too_large'), 0],
  ])('is booked at nothing when it was refused with a %s', async (_, failure, settledUsd) => {
    const { spend } = await jobAfter(failure);
    expect(spend).toMatchObject({ settledUsd, estimatedUsd: 0, reservedUsd: 0 });
  });

  it('is estimated at its input as told and all its output when it was cut after its beginning', async () => {
    const { spend } = await jobAfter(() => cutStream(2, reply([text('cut')], { usage: USAGE })));
    expect(spend).toMatchObject({ settledUsd: SUBMIT_USD, reservedUsd: 0 });
    // 5,500 tokens of input as told; the output at the 8,192 that were asked for.
    expect(spend.estimatedUsd).toBeCloseTo(0.011 + 0.08192, 6);
  });

  it('is settled by its usage when it was cut after all of that was told', async () => {
    const whole = reply([text('cut')], { usage: USAGE });
    // message_start, block start, ping, delta, block stop, message_delta; message_stop is lost.
    const { spend } = await jobAfter(() => cutStream(6, whole));
    expect(spend).toMatchObject({ estimatedUsd: 0, reservedUsd: 0 });
    expect(spend.settledUsd).toBeCloseTo(2 * SUBMIT_USD, 9);
  });
});
