import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type AgentOptions, runAgent } from '../../packages/agent/src/index.ts';
import { memoryJournal } from '../support/memory-journal.ts';
import { reply, startScriptedApi, toolUse } from '../support/scripted-messages-api.ts';
import { LIMITS, recordingTool, runOn, submitTool } from './support.ts';

const look = recordingTool([], { name: 'look' });
const withSchema = (inputSchema: z.ZodType) => ({ tools: [{ ...look, inputSchema }] });

/** Runs options that no compiler has seen. */
function runUntyped(options: object): Promise<unknown> {
  return Reflect.apply(runAgent, undefined, [options]);
}

/** All options of a run but its model call, which is never to be made. */
function good(callModel: AgentOptions['callModel']): AgentOptions {
  return {
    model: 'claude-test',
    system: '',
    tools: [submitTool()],
    journal: memoryJournal(1),
    callModel,
    opening: ['Do the task.'],
    attempt: 1,
    limits: LIMITS,
    emit: () => {},
    signal: new AbortController().signal,
  };
}

describe('an option that makes no sense', () => {
  const numbers: [path: keyof AgentOptions['limits'], values: number[]][] = [
    ['maxTurns', [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]],
    ['toolTimeoutMs', [0, -1, Number.NaN, Number.POSITIVE_INFINITY]],
    ['parallelTools', [0, -1, 1.5, Number.NaN]],
    ['modelTries', [0, -1, Number.NaN]],
    ['modelRetryMs', [-1, Number.NaN, Number.POSITIVE_INFINITY]],
    ['maxResultChars', [0, -1, Number.NaN]],
    ['timeoutMs', [0, -1, Number.NaN, Number.POSITIVE_INFINITY]],
  ];
  const limits = numbers.flatMap(([name, values]) =>
    values.map((value): [string, object, string] => [
      `limits.${name} of ${value}`,
      { limits: { ...LIMITS, [name]: value } },
      `limits.${name} must be `,
    ]),
  );
  const others: [what: string, options: object, says: string][] = [
    ['maxTokens of 0', { maxTokens: 0 }, 'maxTokens must be a whole number from 1, got 0'],
    ['contextWindow of NaN', { contextWindow: Number.NaN }, 'contextWindow must be'],
    ['an attempt of 0', { attempt: 0 }, 'attempt must be'],
    ['no model', { model: ' ' }, 'model must be a text that is not blank'],
    ['an opening of nothing', { opening: [] }, 'opening must hold at least one text'],
    ['a blank opening', { opening: [' \n'] }, 'opening must hold at least one text'],
    ['an opening of numbers', { opening: ['x', 5] }, 'opening must hold'],
    ['no limits', { limits: undefined }, 'limits must be an object, got undefined'],
    ['no signal', { signal: undefined }, 'signal must be an AbortSignal'],
    ['no emit', { emit: undefined }, 'emit must be a function'],
    ['no journal', { journal: undefined }, 'journal must be an object'],
    [
      'a journal of null',
      { journal: { append() {}, entries: [null] } },
      'journal.entries[0] must be a journal',
    ],
    ['a tool of null', { tools: [null] }, 'tools[0] must be an object, got null'],
    ['two tools of one name', { tools: [look, look] }, 'tools[1].name must be used once'],
    ['a name with a blank', { tools: [{ ...look, name: 'a b' }] }, 'tools[0].name must be a tool name'],
    ['a long name', { tools: [{ ...look, name: 'x'.repeat(65) }] }, 'tools[0].name must be a tool name'],
    ['a tool that says nothing', { tools: [{ ...look, description: '' }] }, 'tools[0].description must'],
    ['a tool that does nothing', { tools: [{ ...look, execute: undefined }] }, 'tools[0].execute must'],
    ['a tool without time', { tools: [{ ...look, timeoutMs: 0 }] }, 'tools[0].timeoutMs must'],
    ['an input of lists', withSchema(z.array(z.string())), 'tools[0].inputSchema'],
    ['an input of choices', withSchema(z.union([z.object({}), z.object({})])), 'tools[0].inputSchema'],
    ['an input of a text', withSchema(z.string()), 'tools[0].inputSchema'],
    ['no schema', { tools: [{ ...look, inputSchema: {} }] }, 'tools[0].inputSchema'],
  ];

  it.each([...limits, ...others])('such as %s ends the run before any call', async (_, options, says) => {
    let calls = 0;
    const callModel: AgentOptions['callModel'] = () => {
      calls++;
      return new Promise(() => {});
    };
    const outcome = await runUntyped({ ...good(callModel), ...options });
    expect(outcome).toMatchObject({ kind: 'failed', class: 'infra', turns: 0 });
    expect(outcome).toHaveProperty('reason', expect.stringContaining(`the run was not begun: ${says}`));
    expect(calls).toBe(0);
  });

  it('may be all of them', async () => {
    const outcome = await Reflect.apply(runAgent, undefined, [undefined]);
    expect(outcome).toMatchObject({ kind: 'failed', class: 'infra', turns: 0 });
  });
});

describe('options at their edge', () => {
  it('hold: a time that no timer can wait is as long as one can', async () => {
    const longMs = 1e12;
    await using api = await startScriptedApi([
      reply([toolUse('look'), toolUse('quick')]),
      reply([toolUse('submit')]),
    ]);
    const tools = [look, recordingTool([], { name: 'quick', timeoutMs: longMs }), submitTool()];
    const limits = { ...LIMITS, timeoutMs: longMs, toolTimeoutMs: longMs, modelRetryMs: longMs };
    const { outcome, journal } = await runOn(api, { tools, limits });
    expect(outcome).toMatchObject({ kind: 'done', turns: 2 });
    const results = journal.entries.filter((entry) => entry.kind === 'tool.result');
    expect(results.map(({ isError }) => isError)).toEqual([false, false]);
  });

  it('hold: texts are cleaned, and a schema of anything gets objects', async () => {
    await using api = await startScriptedApi([reply([toolUse('submit')])]);
    const anything = { ...look, description: 'Looks\ud800.', inputSchema: z.unknown() };
    await runOn(api, { system: 'Be brief\u0000.', tools: [anything, submitTool()] });
    expect(api.requests[0]?.body).toMatchObject({
      system: [{ text: 'Be brief\ufffd.' }],
      tools: [{ description: 'Looks\ufffd.', input_schema: { type: 'object' } }, {}],
    });
  });
});

describe('whoever listens to a run', () => {
  it('changes nothing by throwing, at once or later', async () => {
    const script = () => [reply([toolUse('look')]), reply([]), reply([toolUse('submit')])];
    const listeners = [
      () => {
        throw new Error('deaf');
      },
      () => Promise.reject(new Error('deaf')),
    ];
    for (const emit of listeners) {
      await using api = await startScriptedApi(script());
      const { outcome } = await runOn(api, { tools: [look, submitTool()], emit });
      expect(outcome).toMatchObject({ kind: 'done', turns: 3 });
    }
  });
});

describe('a journal that breaks under a run', () => {
  it('ends it, and is told', async () => {
    const entries: unknown[] = [];
    const journal = { entries, append: async () => void entries.push(null) };
    const outcome = await runUntyped({ ...good(() => new Promise(() => {})), journal });
    expect(outcome).toMatchObject({ kind: 'failed', class: 'infra', turns: 0 });
  });
});
