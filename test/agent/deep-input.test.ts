import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { BoardSubmitInput, type ContentBlock, JsonValue } from '../../packages/contracts/src/index.ts';
import {
  cutToolUse,
  lastResults,
  reply,
  type ScriptedApi,
  startScriptedApi,
  text,
  thinking,
  toolUse,
} from '../support/scripted-messages-api.ts';
import { recordingTool, runOn, submitTool, type ToolCallRecord } from './support.ts';

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
const deep = (field: string, levels: number) => `{"${field}": ${nested(levels)}}`;
const submit = () => reply([toolUse('submit')]);
/** What the server saw, less the rule that calls come back as they were sent: a deep input does not. */
const otherViolations = (api: ScriptedApi) =>
  api.takeViolations().filter((line) => !line.includes('exactly as they were sent'));

describe('a call whose input is nested too deep', () => {
  for (const levels of [100, 2200, 5000, 100_000]) {
    it(`of ${levels + 1} levels is answered with an error, and nothing deep is journalled or sent back`, async () => {
      const calls: ToolCallRecord[] = [];
      const tools = [
        recordingTool(calls, { name: 'board_submit', readOnly: false, inputSchema: BoardSubmitInput }),
        recordingTool(calls, { name: 'list_files' }),
        submitTool(),
      ];
      await using api = await startScriptedApi([
        reply(
          [
            cutToolUse('board_submit', deep('output', levels), 'c1'),
            cutToolUse('list_files', deep('glob', levels), 'c2'),
          ],
          { stopReason: 'tool_use' },
        ),
        submit(),
      ]);
      const { outcome, journal } = await runOn(api, { tools });
      expect(otherViolations(api)).toEqual([]);
      expect(outcome).toMatchObject({ kind: 'done', turns: 2 });
      expect(calls).toEqual([]);
      const [request] = api.requests.slice(1);
      const results = lastResults(request?.body ?? never());
      expect(results.map(({ isError }) => isError)).toEqual([true, true]);
      for (const result of results) expect(result.text).toContain('at most 100 levels');
      expect(z.array(JsonValue).safeParse(journal.entries).success).toBe(true);
      expect(JSON.stringify(journal.entries)).not.toContain(nested(100));
      expect(JSON.stringify(request?.body)).not.toContain(nested(100));
    });
  }

  it('is told apart from one of 100 levels, which runs unchanged', async () => {
    const calls: ToolCallRecord[] = [];
    await using api = await startScriptedApi([
      reply([cutToolUse('look', deep('at', 99))], { stopReason: 'tool_use' }),
      submit(),
    ]);
    await runOn(api, { tools: [recordingTool(calls, { name: 'look' }), submitTool()] });
    otherViolations(api);
    expect(calls.map(({ input }) => JSON.stringify(input))).toEqual([deep('at', 99).replace(' ', '')]);
  });

  it('is found in JSON text that stands for an object, too', async () => {
    const calls: ToolCallRecord[] = [];
    const look = recordingTool(calls, { name: 'look', inputSchema: z.object({ at: z.array(JsonValue) }) });
    await using api = await startScriptedApi([reply([toolUse('look', { at: nested(5000) })]), submit()]);
    const { outcome } = await runOn(api, { tools: [look, submitTool()] });
    expect(outcome.kind).toBe('done');
    expect(calls).toEqual([]);
    expect(lastResults(api.requests[1]?.body ?? never())[0]?.text).toContain('at most 100 levels');
  });

  it('leaves out what other blocks hold too deep, and takes no thinking that does', async () => {
    const inDeep = (block: ContentBlock) => ({ ...block, more: JSON.parse(nested(500)) });
    await using api = await startScriptedApi([
      reply([inDeep({ type: 'something_new' }), text('Hm.')]),
      reply([inDeep(thinking('Hm.'))]),
      submit(),
    ]);
    const { outcome, journal } = await runOn(api);
    otherViolations(api);
    expect(outcome).toMatchObject({ kind: 'done', turns: 2 });
    expect(JSON.stringify(journal.entries)).toContain('[left out: nested deeper than 100 levels]');
    expect(JSON.stringify(journal.entries)).not.toContain(nested(101));
  });

  it('is one failure of many: a schema that throws is answered, too', async () => {
    const schema = z.looseObject({}).refine(() => {
      throw new Error('broken schema');
    });
    await using api = await startScriptedApi([reply([toolUse('look')]), submit()]);
    const tools = [recordingTool([], { name: 'look', inputSchema: schema }), submitTool()];
    expect((await runOn(api, { tools })).outcome.kind).toBe('done');
    expect(lastResults(api.requests[1]?.body ?? never())).toMatchObject([
      { isError: true, text: 'look failed: broken schema' },
    ]);
  });
});

function never(): never {
  throw new Error('the request is missing');
}
