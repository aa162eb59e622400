import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { CrewboardError, type Tool } from '../../packages/contracts/src/index.ts';
import { lastResults, reply, startScriptedApi, toolUse } from '../support/scripted-messages-api.ts';
import { runOn, submitTool } from './support.ts';

/** A tool that does as code does that no compiler has seen. */
function untyped(name: string, execute: () => unknown, declared: Partial<Tool> = {}): Tool {
  return {
    name,
    description: `The tool ${name}.`,
    inputSchema: z.looseObject({}),
    readOnly: false,
    ...declared,
    execute: async () => handedOn(await execute()),
  };
}

/** Hands any value on where an answer is wanted, as JavaScript does. */
function handedOn(value: unknown): ReturnType<Tool['execute']> {
  return new Promise((resolve) => Reflect.apply(resolve, undefined, [value]));
}

/** Lets a model call `tool`, then submit; returns the call's result and how the run ended. */
async function answerOf(tool: Tool) {
  await using api = await startScriptedApi([
    reply([toolUse(tool.name, {}, 'c0')]),
    reply([toolUse('submit')]),
  ]);
  const { outcome } = await runOn(api, { tools: [tool, submitTool()] });
  const second = api.requests[1];
  return { outcome, result: second === undefined ? undefined : lastResults(second.body)[0] };
}

const getter = {
  get content(): string {
    throw new Error('not now');
  },
};

describe('an answer of the wrong shape', () => {
  const wrong: [what: string, answer: unknown, says: RegExp][] = [
    ['nothing', undefined, /must be an object/],
    ['null', null, /got null/],
    ['a text', 'done', /got a string/],
    ['an object without content', {}, /content is missing/],
    ['a number as content', { content: 5 }, /content must be a string/],
    ['bytes as content', { content: Buffer.from('x') }, /content must be a string/],
    ['blocks as content', { content: [{ type: 'text', text: 'x' }] }, /content must be a string, got a list/],
    ['isError in words', { content: 'x', isError: 'yes' }, /isError must be true or false/],
    [
      'an unknown end',
      { content: 'x', end: { kind: 'over' } },
      /end\.kind must be one of done, parked, failed/,
    ],
    [
      'a failure of no class',
      { content: 'x', end: { kind: 'failed', class: 'odd', reason: '' } },
      /end\.class/,
    ],
    ['a whole of a number', { content: 'x', whole: { content: 5 } }, /whole\.content/],
    ['a getter that throws', getter, /can't be read: not now/],
  ];

  it.each(wrong)('such as %s, is told to the model, and the run goes on', async (_, answer, says) => {
    const { outcome, result } = await answerOf(untyped('odd', () => answer, { endsAttempt: true }));
    expect(outcome).toMatchObject({ kind: 'done', turns: 2 });
    expect(result).toMatchObject({ isError: true });
    expect(result?.text).toMatch(/^odd ran, but its answer /);
    expect(result?.text).toMatch(says);
    expect(result?.text).toMatch(/Check what it did before you repeat it\.$/);
  });

  it('leaves no doubt about a tool that only reads', async () => {
    const { result } = await answerOf(untyped('look', () => undefined, { readOnly: true }));
    expect(result?.text).toMatch(/^look ran, but/);
    expect(result?.text).not.toContain('Check what it did');
  });

  it('is an end of a tool that was not declared to end the attempt', async () => {
    const { outcome, result } = await answerOf(
      untyped('odd', () => ({ content: 'x', end: { kind: 'done' } })),
    );
    expect(outcome).toMatchObject({ kind: 'done', turns: 2 });
    expect(result).toMatchObject({ isError: true });
    expect(result?.text).toContain('not declared with endsAttempt: true');
  });
});

describe('a thrown value', () => {
  const endless: Record<string, unknown> = {};
  endless.self = endless;
  const thrown: [what: string, value: unknown, says: string][] = [
    ['nothing', undefined, 'odd failed: undefined'],
    ['an object without a prototype', Object.create(null), 'odd failed: a value that'],
    ['a text that throws', { toString: () => ({}) }, 'odd failed: a value that'],
    ['an error without a text', Object.assign(new Error('x'), { message: 5 }), 'odd failed: 5'],
    ['a symbol', Symbol('s'), 'odd failed: Symbol(s)'],
    [
      'a refusal that is no JSON',
      new CrewboardError('not_found', 'gone', { current: endless }),
      'odd failed: not_found: gone',
    ],
  ];

  it.each(thrown)('such as %s, is told to the model, and the run goes on', async (_, value, says) => {
    const tool = untyped('odd', () => {
      throw value;
    });
    const { outcome, result } = await answerOf(tool);
    expect(outcome).toMatchObject({ kind: 'done', turns: 2 });
    expect(result).toMatchObject({ isError: true });
    expect(result?.text).toContain(says);
  });
});
