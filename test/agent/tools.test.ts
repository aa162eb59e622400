import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { AgentOptions } from '../../packages/agent/src/index.ts';
import { BlockKind, CrewboardError, type Tool } from '../../packages/contracts/src/index.ts';
import { lastResults, reply, startScriptedApi, toolUse } from '../support/scripted-messages-api.ts';
import { LIMITS, recordingTool, runOn, submitTool, type ToolCallRecord } from './support.ts';

type Call = [name: string, input?: Record<string, unknown>];

/** Lets a model make `calls` in one turn, then submit; returns their results and the run. */
async function callOnce(calls: readonly Call[], tools: readonly Tool[], options: Partial<AgentOptions> = {}) {
  await using api = await startScriptedApi([
    reply(calls.map(([name, input], at) => toolUse(name, input, `c${at}`))),
    reply([toolUse('submit')]),
  ]);
  const run = await runOn(api, { tools: [...tools, submitTool()], ...options, journal: undefined });
  const second = api.requests[1];
  // The recorder wants every called tool to be offered; one test calls a tool that is not.
  const violations = api.takeViolations().filter((line) => !line.includes('is not offered'));
  return { run, violations, results: second === undefined ? [] : lastResults(second.body) };
}

describe('a tool call', () => {
  it('of an unknown tool is answered with the names of the tools', async () => {
    const { results, run, violations } = await callOnce([['nothing']], [recordingTool([], { name: 'look' })]);
    expect(results).toEqual([
      { id: 'c0', isError: true, text: 'there is no tool named "nothing". The tools are: look, submit' },
    ]);
    expect(run.outcome.kind).toBe('done');
    expect(violations).toEqual([]);
  });

  it('with bad input is refused with the path and an example, and the tool does not run (case 15)', async () => {
    const calls: ToolCallRecord[] = [];
    const inputSchema = z.strictObject({ id: z.string(), size: z.number().int().optional() });
    const tool = recordingTool(calls, { name: 'get', inputSchema });
    const { results } = await callOnce(
      [
        ['get', { id: 7 }],
        ['get', { id: 'x', extra: true }],
      ],
      [tool],
    );
    expect(calls).toEqual([]);
    const [number, extra] = results.map(({ text }) => JSON.parse(text));
    expect(number).toMatchObject({ code: 'invalid_argument', path: 'id', example: { id: '7' } });
    expect(extra).toMatchObject({ code: 'invalid_argument', path: 'extra', example: { id: 'text' } });
    expect(results.every(({ isError }) => isError)).toBe(true);
  });

  it('may send JSON text where the schema has an object, array or enum, and nowhere else (case 15)', async () => {
    const calls: ToolCallRecord[] = [];
    const inputSchema = z.strictObject({
      ops: z.array(z.strictObject({ title: z.string() })).optional(),
      kind: BlockKind.optional(),
      limits: z.strictObject({ turns: z.number() }).optional(),
    });
    const tool = recordingTool(calls, { name: 'plan', inputSchema });
    const { results } = await callOnce(
      [
        ['plan', { ops: '[{"title": "{\\"a\\": 1}"}]', limits: '{"turns": 3}' }],
        ['plan', { kind: '"needs_input"' }],
        ['plan', { ops: '["{\\"title\\": \\"twice\\"}"]' }],
        ['plan', { ops: 'no JSON' }],
      ],
      [tool],
      { limits: { ...LIMITS, parallelTools: 1 } },
    );
    expect(calls.map(({ input }) => input)).toEqual([
      { ops: [{ title: '{"a": 1}' }], limits: { turns: 3 } },
      { kind: 'needs_input' },
    ]);
    expect(results.map(({ isError }) => isError)).toEqual([false, false, true, true]);
  });

  it('that throws is answered with its error', async () => {
    const refused = new CrewboardError('stale_version', 'nothing changed: version 3 is current');
    const fail = (name: string, error: unknown) =>
      recordingTool([], { name, answer: () => Promise.reject(error) });
    const tools = [fail('board', refused), fail('files', new Error('no such file')), fail('odd', 'a string')];
    const { results } = await callOnce([['board'], ['files'], ['odd']], tools);
    expect(results.map(({ isError }) => isError)).toEqual([true, true, true]);
    expect(JSON.parse(results[0]?.text ?? '')).toMatchObject({
      code: 'stale_version',
      retry: 'after_refresh',
    });
    expect(results[1]?.text).toBe('files failed: no such file');
    expect(results[2]?.text).toBe('odd failed: a string');
  });

  it('that takes too long is stopped, and the others are not', async () => {
    let reason: unknown;
    const slow = recordingTool([], {
      name: 'slow',
      readOnly: false,
      timeoutMs: 30,
      answer: (_, { signal }) =>
        new Promise(() => {
          signal.addEventListener('abort', () => {
            reason = signal.reason;
          });
        }),
    });
    const { results } = await callOnce([['slow'], ['look']], [slow, recordingTool([], { name: 'look' })]);
    expect(results).toEqual([
      {
        id: 'c0',
        isError: true,
        text: 'slow timed out after 30 ms and was stopped. Check what it did before you repeat it.',
      },
      { id: 'c1', isError: false, text: 'look ran' },
    ]);
    expect(reason).toBeInstanceOf(Error);
  });

  it('has a request ID of the journal index of its reply and its own ID', async () => {
    const calls: ToolCallRecord[] = [];
    await callOnce([['look'], ['look']], [recordingTool(calls, { name: 'look' })]);
    expect(calls.map(({ requestId }) => requestId)).toEqual(['1/c0', '1/c1']);
  });
});

describe('tools of one turn', () => {
  it('run in parallel up to the limit, with results in the order of the calls', async () => {
    let running = 0;
    let most = 0;
    let secondCame = () => {};
    const answer = async (input: unknown) => {
      most = Math.max(most, ++running);
      // The first call ends only when a second one runs beside it; that one stays long enough to meet a third.
      if (running === 1 && most === 1) await new Promise<void>((resolve) => (secondCame = resolve));
      else await new Promise((resolve) => setImmediate(resolve));
      secondCame();
      running--;
      return { content: JSON.stringify(input) };
    };
    const tool = recordingTool([], { name: 'look', answer });
    const calls: Call[] = [0, 1, 2].map((n) => ['look', { n }]);
    const { results } = await callOnce(calls, [tool], { limits: { ...LIMITS, parallelTools: 2 } });
    expect(most).toBe(2);
    expect(results.map(({ text }) => text)).toEqual(['{"n":0}', '{"n":1}', '{"n":2}']);
  });

  it('that may end the attempt run alone after all others, and only the first of them', async () => {
    const calls: ToolCallRecord[] = [];
    const ender = (name: string) =>
      recordingTool(calls, {
        name,
        endsAttempt: true,
        answer: { content: 'the check failed', isError: true },
      });
    const { results } = await callOnce(
      [['finish'], ['look'], ['give_up'], ['look']],
      [ender('finish'), ender('give_up'), recordingTool(calls, { name: 'look' })],
    );
    expect(calls.map(({ name }) => name)).toEqual(['look', 'look', 'finish']);
    expect(results.map(({ text }) => text)).toEqual([
      'the check failed',
      'look ran',
      'not run: a turn can end with one call only, and finish came first. Call it again if it is still needed.',
      'look ran',
    ]);
  });

  it('leave the result of the call that ended the attempt to the next one', async () => {
    const parking = submitTool([], { content: 'parked', end: { kind: 'parked', reason: 'news' } });
    await using api = await startScriptedApi([
      reply([toolUse('look', {}, 'c1'), toolUse('submit', {}, 'c2')]),
    ]);
    const { outcome, journal } = await runOn(api, { tools: [recordingTool([], { name: 'look' }), parking] });
    expect(outcome).toMatchObject({ kind: 'parked', cause: 'tool', reason: 'news' });
    const results = journal.entries.flatMap((entry) =>
      entry.kind === 'tool.result' ? [entry.toolUseId] : [],
    );
    expect(results).toEqual(['c1']);
  });

  it('may end it as failed, with a class', async () => {
    const end = { kind: 'failed', class: 'check', reason: 'gave up' } as const;
    await using api = await startScriptedApi([reply([toolUse('submit')])]);
    const { outcome } = await runOn(api, { tools: [submitTool([], { content: '', end })] });
    expect(outcome).toMatchObject(end);
  });
});

describe('output of tools', () => {
  it('is cleaned and cut at a character, saying how much is shown (case 5)', async () => {
    const dirty = new TextDecoder('utf-16le').decode(new Uint8Array([0x00, 0xd8, 0x41, 0x00, 0x00, 0x00]));
    const tools = [
      recordingTool([], { name: 'dirty', answer: { content: `\ud800A\u0000${dirty}` } }),
      recordingTool([], { name: 'long', answer: { content: `${'x'.repeat(9)}👩‍👩‍👧y` } }),
    ];
    const { results, violations } = await callOnce([['dirty'], ['long']], tools, {
      limits: { ...LIMITS, maxResultChars: 12 },
    });
    expect(violations).toEqual([]);
    expect(results[0]?.text).toBe('\ufffdA\ufffd\ufffdA\ufffd');
    expect(results[1]?.text).toBe('xxxxxxxxx\n[showing 9 of 18 characters]');
  });
});
