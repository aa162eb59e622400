import { describe, expect, it } from 'vitest';
import type { AgentOptions } from '../../packages/agent/src/index.ts';
import type { ToolAnswer, WholeOutput } from '../../packages/contracts/src/index.ts';
import { lastResults, reply, startScriptedApi, toolUse } from '../support/scripted-messages-api.ts';
import { LIMITS, recordingTool, runOn, submitTool } from './support.ts';

const REF = 'a_0123456789abcdef0123';

/** Lets a model call a tool with this answer, then submit; returns the result that it was shown. */
async function answered(answer: ToolAnswer, options: Partial<AgentOptions> = {}) {
  await using api = await startScriptedApi([reply([toolUse('look')]), reply([toolUse('submit')])]);
  const tools = [recordingTool([], { name: 'look', answer }), submitTool()];
  const limits = { ...LIMITS, maxResultChars: 12 };
  const run = await runOn(api, { tools, limits, ...options, journal: undefined });
  const second = api.requests[1];
  return { run, result: second === undefined ? undefined : lastResults(second.body)[0] };
}

describe('an output that the model is not shown whole', () => {
  it('is kept as it was cleaned, and goes on where what is shown ends', async () => {
    const kept: WholeOutput[] = [];
    const output = `${'x'.repeat(11)}😀 and\u0000 on`;
    const { result } = await answered(
      { content: output },
      {
        async keepWhole(whole, { requestId }) {
          expect(requestId).toMatch(/^1\//);
          kept.push(whole);
          return REF;
        },
      },
    );
    const [{ content: whole } = { content: '' }] = kept;
    expect(whole).toBe(output.replace('\0', '\ufffd'));
    expect(result).toMatchObject({
      isError: false,
      text: `${'x'.repeat(11)}\n[showing 11 of 21 characters; read_artifact {"ref":"${REF}"} from offset 11]`,
    });
    expect(`${result?.text.slice(0, 11)}${whole.slice(11)}`).toBe(whole);
  });

  it('is the file as it is, where a tool says so, also when nothing is cut', async () => {
    const bytes = Uint8Array.of(0xff, 0xfe, 0x00);
    const kept: WholeOutput[] = [];
    const keepWhole = async (whole: WholeOutput) => {
      kept.push(whole);
      return REF;
    };
    const whole = { content: bytes, path: 'raw.bin' };
    const { result } = await answered({ content: '???', whole }, { keepWhole });
    expect(kept).toEqual([whole]);
    expect(result?.text).toBe(`???\n[the file itself, unchanged, is artifact ${REF}]`);
    const log = await answered({ content: 'tail', whole: { content: 'head and tail' } }, { keepWhole });
    expect(log.result?.text).toBe(`tail\n[read_artifact {"ref":"${REF}"} has all of it]`);
  });

  it('is shown cut, and is no failed call, when it can not be kept', async () => {
    const { result, run } = await answered(
      { content: 'x'.repeat(20) },
      { keepWhole: () => Promise.reject(new Error('disk full')) },
    );
    expect(result).toMatchObject({
      isError: false,
      text: `${'x'.repeat(12)}\n[showing 12 of 20 characters; the whole could not be kept]`,
    });
    expect(run.outcome.kind).toBe('done');
  });

  it('leaves the call unanswered for the next attempt when the run is aborted meanwhile', async () => {
    const stop = new AbortController();
    const { run, result } = await answered(
      { content: 'x'.repeat(20) },
      {
        signal: stop.signal,
        keepWhole() {
          stop.abort(new Error('shutdown'));
          return new Promise(() => {});
        },
      },
    );
    expect(run.outcome.kind).toBe('aborted');
    expect(result).toBeUndefined();
    expect(run.journal.entries.map(({ kind }) => kind)).toEqual(['message', 'reply']);
  });

  it('is not kept when all of it is shown', async () => {
    const keepWhole = () => Promise.reject(new Error('not to be called'));
    expect((await answered({ content: 'x'.repeat(12) }, { keepWhole })).result?.text).toBe('x'.repeat(12));
    expect((await answered({ content: ' '.repeat(50) }, { keepWhole })).result?.text).toBe('(no output)');
  });
});
