import { describe, expect, it } from 'vitest';
import type { CallBudget, CallSpent, ModelRequest } from '../../packages/agent/src/index.ts';
import type { CallSettlement, Journal, Tool } from '../../packages/contracts/src/index.ts';
import { memoryJournal } from '../support/memory-journal.ts';
import {
  cutStream,
  errorInStream,
  httpError,
  overloaded,
  reply,
  type ScriptedReply,
  startScriptedApi,
  text,
  toolUse,
} from '../support/scripted-messages-api.ts';
import { LIMITS, recordingTool, runOn, submitTool } from './support.ts';

const ASK = { inputTokens: 100, outputTokens: 20, cacheReadTokens: 0, cacheWriteTokens: 0, modelCalls: 1 };
const SUBMIT = () => reply([toolUse('submit')]);

/** A budget that writes down what it is asked and told; `grants` says how many tokens each call is granted. */
function recordedBudget(grants: (call: number, request: ModelRequest) => number = (_, r) => r.maxTokens) {
  const asked: { wanted: number; inputTokens: number }[] = [];
  const settled: { callId: string; spent: CallSpent }[] = [];
  const share = { used: 0 };
  const budget: CallBudget = {
    usedShare: () => share.used,
    async reserve(request, inputTokens) {
      const callId = `call ${asked.push({ wanted: request.maxTokens, inputTokens })}`;
      const maxTokens = grants(asked.length, request);
      if (maxTokens === 0) return { granted: false, fails: false, reason: 'nothing is left' };
      return {
        granted: true,
        call: {
          maxTokens,
          settlement: ({ outputTokens }) => ({ callId, nanoUsd: outputTokens }),
          async settle(spent) {
            settled.push({ callId, spent });
          },
        },
      };
    },
  };
  return { budget, asked, settled, share };
}

/** A journal in memory that keeps the settlements that came with its entries. */
function settlingJournal() {
  const settlements: (CallSettlement | undefined)[] = [];
  const memory = memoryJournal(1);
  const journal: Journal & { appends: number } = {
    get entries() {
      return memory.entries;
    },
    get appends() {
      return memory.appends;
    },
    append(entry, settles) {
      if (entry.kind === 'reply') settlements.push(settles);
      return memory.append(entry);
    },
  };
  return { journal, settlements };
}

async function runWith(replies: ScriptedReply[], recorded: ReturnType<typeof recordedBudget>) {
  await using api = await startScriptedApi(replies);
  const { journal, settlements } = settlingJournal();
  const { outcome } = await runOn(api, {
    journal,
    budget: recorded.budget,
    wait: async () => {},
    tools: [submitTool(), recordingTool([], { name: 'look' })],
  });
  return { outcome, settlements, sent: api.requests.map(({ body }) => body.max_tokens), journal };
}

describe('the budget of an agent', () => {
  it('is asked before each call, and each reply settles its call in the append that stores it', async () => {
    const recorded = recordedBudget();
    const { outcome, settlements } = await runWith([reply([toolUse('look')]), SUBMIT()], recorded);
    expect(outcome.kind).toBe('done');
    expect(recorded.asked).toHaveLength(2);
    expect(settlements).toEqual([
      { callId: 'call 1', nanoUsd: 20 },
      { callId: 'call 2', nanoUsd: 20 },
    ]);
    expect(recorded.settled).toEqual([]);
  });

  it('grants fewer tokens, and those are what the call may write', async () => {
    const { sent } = await runWith(
      [SUBMIT()],
      recordedBudget(() => 1024),
    );
    expect(sent).toEqual([1024]);
  });

  it('that has no room ends the run before anything is sent', async () => {
    const { outcome, sent } = await runWith(
      [],
      recordedBudget(() => 0),
    );
    expect(outcome).toMatchObject({ kind: 'budget', fails: false, reason: 'nothing is left', turns: 0 });
    expect(sent).toEqual([]);
  });

  it.each([
    ['refused by its provider cost nothing', overloaded(), { kind: 'nothing' }],
    ['given up by a gateway may have cost anything', httpError(504, 'timeout_error'), { kind: 'unknown' }],
    ['cut in its stream cost their input, and some output', cutStream(2), { kind: 'begun' }],
    ['ended by an error in their stream likewise', errorInStream(2), { kind: 'begun' }],
    ['cut before their first event may have cost anything', cutStream(0), { kind: 'unknown' }],
    [
      'answered by a reply that can not be used cost what it says',
      reply([toolUse('look', {}, 'same'), toolUse('look', {}, 'same')]),
      { kind: 'used', usage: ASK },
    ],
  ] as [string, ScriptedReply, CallSpent][])('is told that calls %s', async (_, first, spent) => {
    const recorded = recordedBudget();
    const { outcome, settlements } = await runWith([first, SUBMIT()], recorded);
    expect(outcome.kind).toBe('done');
    expect(recorded.settled).toMatchObject([{ callId: 'call 1', spent }]);
    expect(settlements).toEqual([{ callId: 'call 2', nanoUsd: 20 }]);
  });

  it('is told that a call without a connection cost nothing', async () => {
    const recorded = recordedBudget();
    const gone = await startScriptedApi([]);
    await gone.stop();
    const limits = { ...LIMITS, modelTries: 1 };
    const { outcome } = await runOn(gone, { budget: recorded.budget, limits });
    expect(outcome).toMatchObject({ kind: 'parked', cause: 'model' });
    expect(recorded.settled).toEqual([{ callId: 'call 1', spent: { kind: 'nothing' } }]);
  });

  it('pays for replies that are dropped, and is asked for twice the tokens then', async () => {
    const recorded = recordedBudget();
    const cut = reply([text('half')], { stopReason: 'max_tokens' });
    const { settlements } = await runWith([cut, SUBMIT()], recorded);
    expect(recorded.asked.map(({ wanted }) => wanted)).toEqual([8192, 16384]);
    expect(settlements).toHaveLength(2);
  });

  it('has the model told to wrap up, once, when four fifths of it are spent', async () => {
    const recorded = recordedBudget();
    recorded.share.used = 0.8;
    const { journal } = await runWith(
      [reply([toolUse('look')]), reply([toolUse('look', { again: true })]), SUBMIT()],
      recorded,
    );
    const said = journal.entries.flatMap((entry) => (entry.kind === 'message' ? entry.texts : []));
    expect(said.filter((line) => line.startsWith('80 % of the budget is spent. Wrap up'))).toHaveLength(1);
  });
});

describe('the bound of a request’s input', () => {
  it('is the bytes of all of it, until a reply has told what most of it takes', async () => {
    const recorded = recordedBudget();
    const long = 'x'.repeat(50_000);
    await using api = await startScriptedApi([
      reply([toolUse('look')], { usage: { input_tokens: 9000 } }),
      SUBMIT(),
    ]);
    await runOn(api, {
      budget: recorded.budget,
      opening: [long],
      tools: [submitTool(), recordingTool([], { name: 'look', answer: { content: 'y'.repeat(900) } })],
    });
    const [first, second] = recorded.asked.map(({ inputTokens }) => inputTokens);
    expect(first).toBeGreaterThan(50_000);
    expect(second).toBeGreaterThan(9000 + 20 + 900);
    expect(second).toBeLessThan(15_000);
  });

  it('counts bytes, not characters', async () => {
    const recorded = recordedBudget();
    await using api = await startScriptedApi([SUBMIT()]);
    await runOn(api, { budget: recorded.budget, opening: ['漢'.repeat(10_000)] });
    expect(recorded.asked[0]?.inputTokens).toBeGreaterThan(30_000);
  });

  it('has instructions and tools in the last reply’s input, in later attempts too, unless they are others', async () => {
    const long = 'x'.repeat(50_000);
    const look = (description: string) => ({ ...recordingTool([], { name: 'look' }), description });
    let journal = memoryJournal(1);
    await using api = await startScriptedApi((_, n) =>
      reply([toolUse('look', { n })], { usage: { input_tokens: 9000 } }),
    );
    const asked = async (attempt: number, prefix: { system?: string; tools: Tool[] }) => {
      const recorded = recordedBudget();
      journal = memoryJournal(attempt, journal.entries);
      const limits = { ...LIMITS, maxTurns: 2 };
      await runOn(api, { attempt, journal, budget: recorded.budget, limits, ...prefix });
      return recorded.asked.map(({ inputTokens }) => inputTokens);
    };
    const prefix = { system: long, tools: [submitTool(), look('Looks.')] };
    const [first, second] = await asked(1, prefix);
    expect(first).toBeGreaterThan(50_000);
    expect(second).toBeLessThan(13_000);
    const later = await asked(2, { system: long, tools: [submitTool(), look('Looks.')] });
    expect(Math.max(...later)).toBeLessThan(13_000);
    expect((await asked(3, { ...prefix, tools: [submitTool(), look('Looks again.')] }))[0]).toBeGreaterThan(
      50_000,
    );
    expect((await asked(4, { ...prefix, system: `${long}!` }))[0]).toBeGreaterThan(50_000);
  });

  it('does not go by the reply of another model', async () => {
    const recorded = recordedBudget();
    await using api = await startScriptedApi([reply([toolUse('look')]), SUBMIT()]);
    const journal = memoryJournal(1);
    const tools = [submitTool(), recordingTool([], { name: 'look' })];
    await runOn(api, { journal, opening: ['x'.repeat(50_000)], tools, limits: { ...LIMITS, maxTurns: 1 } });
    const later = memoryJournal(2, journal.entries);
    await runOn(api, { journal: later, attempt: 2, model: 'another', tools, budget: recorded.budget });
    expect(recorded.asked[0]?.inputTokens).toBeGreaterThan(50_000);
  });
});
