import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  BoardBlockInput,
  BoardFailInput,
  BoardGetInput,
  BoardListInput,
  BoardNoteInput,
  BoardPlanInput,
  BoardProposeInput,
  BoardResolveInput,
  BoardSubmitInput,
  CrewboardError,
  FinishJobInput,
  ReadArtifactInput,
  SearchFilesInput,
  SubmitPlanInput,
  type Tool,
  WriteArtifactInput,
} from '../../packages/contracts/src/index.ts';
import { lastResults, reply, startScriptedApi, toolUse } from '../support/scripted-messages-api.ts';
import { wrongInputs } from '../support/wrong-input.ts';
import { LIMITS, recordingTool, runOn, submitTool } from './support.ts';

interface Refusal {
  detail: string;
  next?: string;
  example?: unknown;
}

/** What the model is told of each call, all of one turn. */
async function told(
  calls: readonly [name: string, input: Record<string, unknown>][],
  tools: Tool[],
): Promise<string[]> {
  await using api = await startScriptedApi([
    reply(calls.map(([name, input], at) => toolUse(name, input, `c${at}`))),
    reply([toolUse('finish')]),
  ]);
  const finish = { ...submitTool(), name: 'finish' };
  await runOn(api, { tools: [...tools, finish], limits: { ...LIMITS, maxResultChars: 100_000 } });
  const request = api.requests[1]?.body;
  if (request === undefined) throw new Error('the results were not sent');
  return lastResults(request).map(({ text }) => text);
}

async function refusalOf(name: string, input: Record<string, unknown>, tools: Tool[]): Promise<Refusal> {
  const [text = ''] = await told([[name, input]], tools);
  return JSON.parse(text);
}

const tool = (name: string, inputSchema: z.ZodType, readOnly = true): Tool =>
  recordingTool([], { name, inputSchema, readOnly });

const ID = 't_4kx9m2ab';
const boardGet = tool('board_get', BoardGetInput);
const boardList = tool('board_list', BoardListInput);
const boardSubmit = tool('board_submit', BoardSubmitInput, false);

describe('a refused input is answered with an example that its own schema takes, or with none:', () => {
  it.each<[string, z.ZodType, unknown, boolean]>([
    ['a pattern', z.string().regex(/^t_[a-z]{8}$/), 'zzz', false],
    ['a rule of its own', z.string().refine((text) => text === 'magic', 'must be magic'), 'x', false],
    ['a rule that can not be asked now', z.string().refine(async () => true), 5, false],
    ['an e-mail address', z.email(), 'x', true],
    ['a UUID', z.uuid(), 'x', true],
    ['a URL', z.url(), 'x', true],
    ['a time', z.iso.datetime(), 'x', true],
    ['a long text', z.string().min(20), 'x', true],
    ['a text of few letters', z.string().max(2), 'xxx', true],
    ['a number with steps', z.number().int().min(100).multipleOf(7), 1, true],
    ['a small number', z.number().max(0), 1, true],
    ['a list of three', z.array(z.number()).min(3), [], true],
  ])('%s', async (_, inner, given, hasExample) => {
    const inputSchema = z.strictObject({ m: inner });
    const [text = ''] = await told([['get', { m: given }]], [tool('get', inputSchema)]);
    if (!text.startsWith('{')) return expect(hasExample).toBe(false);
    const { example, next }: Refusal = JSON.parse(text);
    expect(example !== undefined).toBe(hasExample);
    if (hasExample) expect(inputSchema.safeParse(example).success).toBe(true);
    expect(next).toBe(hasExample ? `get ${JSON.stringify(example)}` : 'get again, with another m');
  });

  it.each<[string, z.ZodType]>([
    ['board_get', BoardGetInput],
    ['board_list', BoardListInput],
    ['board_plan', BoardPlanInput],
    ['board_resolve', BoardResolveInput],
    ['board_note', BoardNoteInput],
    ['board_block', BoardBlockInput],
    ['board_submit', BoardSubmitInput],
    ['board_fail', BoardFailInput],
    ['board_propose', BoardProposeInput],
    ['submit_plan', SubmitPlanInput],
    ['finish_job', FinishJobInput],
    ['search_files', SearchFilesInput],
    ['read_artifact', ReadArtifactInput],
    ['write_artifact', WriteArtifactInput],
  ])('%s, whatever was sent', async (name, inputSchema) => {
    const inputs = fc.sample(wrongInputs(inputSchema), { numRuns: 60, seed: 7 });
    const refused = inputs.filter((input) => !inputSchema.safeParse(input).success);
    const calls = refused.map((input): [string, Record<string, unknown>] => [name, input]);
    for (const readOnly of [true, false]) {
      const texts = await told(calls, [tool(name, inputSchema, readOnly)]);
      const refusals = texts.filter((text) => text.startsWith('{"code"'));
      expect(refusals.length).toBeGreaterThan(20);
      for (const text of refusals) {
        const { example, next }: Refusal = JSON.parse(text);
        if (example !== undefined) expect(inputSchema.safeParse(example).success, text).toBe(true);
        const [, called, sent] = /^(\S+) (\{.*\})$/.exec(next ?? '') ?? [];
        if (called === name) expect(inputSchema.safeParse(JSON.parse(sent ?? '')).success, text).toBe(true);
        if (!readOnly && called === name) expect.fail(`an example that writes is advised: ${text}`);
      }
    }
  });
});

describe('the next call that a refusal advises', () => {
  it('is the own call, mended, for a misspelt field, in words where it writes', async () => {
    const tools = [boardList, boardGet, boardSubmit];
    const submit = await refusalOf('board_submit', { taskId: ID, sumary: 'done' }, tools);
    expect(submit).toMatchObject({
      next: 'board_submit again, with summary in place of sumary',
      example: { taskId: ID, summary: 'done' },
    });
    expect((await refusalOf('board_get', { task_id: ID }, tools)).next).toBe(`board_get {"taskId":"${ID}"}`);
    const both = await refusalOf('board_submit', { taskId: ID, colour: 1 }, tools);
    expect(both.next).toBe('board_submit again, with summary and no colour');
  });

  it('lists the tasks for an ID that is none, and names no task that was made up', async () => {
    const tools = [boardList, boardGet];
    expect((await refusalOf('board_get', { taskId: 'zzz' }, tools)).next).toBe('board_list {}');
    expect((await refusalOf('board_get', {}, tools)).next).toBe('board_list {}');
  });

  it.each([
    'invalid_argument',
    'stale_version',
    'not_ready',
    'already_claimed',
    'terminal',
    'duplicate_key',
    'unknown_dependency',
    'plan_mode',
    'board_paused',
    'not_found',
    'evidence_required',
  ] as const)('names only tools that the run has: %s', async (code) => {
    for (const extras of [{}, { path: 'm' }, { current: { taskId: ID } }]) {
      for (const readOnly of [true, false]) {
        const fails = recordingTool([], {
          name: 'w',
          readOnly,
          answer: () => Promise.reject(new CrewboardError(code, 'no', extras)),
        });
        const { next } = await refusalOf('w', { m: 1 }, [fails]);
        expect(next ?? 'w').toMatch(/^w( |$)/);
      }
    }
    const [text = ''] = await told([['w', { m: 1 }]], [tool('w', z.strictObject({ m: z.string() }), false)]);
    expect(JSON.parse(text).next).toBe('w again, with another m');
  });

  it('is what the tool itself wrote, where the run has that tool', async () => {
    const fails = recordingTool([], {
      name: 'read_file',
      answer: () =>
        Promise.reject(new CrewboardError('not_found', 'no', { next: 'list_files {"glob":"*"}' })),
    });
    const listFiles = recordingTool([], { name: 'list_files' });
    expect((await refusalOf('read_file', {}, [fails, listFiles])).next).toBe('list_files {"glob":"*"}');
    expect(await refusalOf('read_file', {}, [fails])).not.toHaveProperty('next');
  });

  it('names of the calls that plan mode allows those that the run has', async () => {
    await using api = await startScriptedApi([
      reply([toolUse('change', {}, 'c')]),
      reply([toolUse('submit')]),
    ]);
    const tools = [recordingTool([], { name: 'change', readOnly: false }), submitTool()];
    await runOn(api, { tools, planMode: { allows: ['submit_plan', 'submit'] } });
    const [result] = lastResults(api.requests[1]?.body ?? missing());
    expect(JSON.parse(result?.text ?? '').next).toBe('use read-only tools, or submit');
  });
});

function missing(): never {
  throw new Error('the request is missing');
}
