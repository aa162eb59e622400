import { describe, expect, it } from 'vitest';
import type { AgentOptions } from '../../packages/agent/src/index.ts';
import { memoryJournal } from '../support/memory-journal.ts';
import {
  allText,
  blocksOf,
  lastResults,
  reply,
  startScriptedApi,
  text,
  toolUse,
} from '../support/scripted-messages-api.ts';
import { LIMITS, recordingTool, runOn, submitTool, type ToolCallRecord } from './support.ts';

const submit = () => reply([toolUse('submit')]);
const limits = (change: Partial<AgentOptions['limits']>) => ({ ...LIMITS, ...change });

describe('a run', () => {
  it('calls tools, sends their results back and ends when a tool says so', async () => {
    await using api = await startScriptedApi([
      reply([text('I look.'), toolUse('look', { at: 'a' }, 'c1')], {
        usage: {
          input_tokens: 7,
          output_tokens: 5,
          cache_read_input_tokens: 3,
          cache_creation_input_tokens: 2,
        },
      }),
      submit(),
    ]);
    const calls: ToolCallRecord[] = [];
    const tools = [recordingTool(calls, { name: 'look', answer: { content: 'a lake' } }), submitTool(calls)];
    const { outcome, events } = await runOn(api, { tools });

    expect(outcome).toMatchObject({ kind: 'done', turns: 2 });
    expect(outcome.usage).toEqual({
      modelCalls: 2,
      inputTokens: 107,
      outputTokens: 25,
      cacheReadTokens: 3,
      cacheWriteTokens: 2,
    });
    expect(calls.map((call) => call.name)).toEqual(['look', 'submit']);
    expect(lastResults(api.requests[1]?.body ?? never())).toEqual([
      { id: 'c1', text: 'a lake', isError: false },
    ]);
    expect(events.map((event) => event.type)).toEqual([
      'turn.started',
      'reply',
      'tool.started',
      'tool.ended',
      'turn.started',
      'reply',
      'tool.started',
      'tool.ended',
      'stopped',
    ]);
  });

  it('journals the reply before its tools run, and a start only for tools that are not read-only', async () => {
    await using api = await startScriptedApi([
      reply([toolUse('look', {}, 'c1'), toolUse('change', {}, 'c2')]),
      submit(),
    ]);
    const journal = memoryJournal(1);
    const seen: string[][] = [];
    const answer = () => {
      seen.push(journal.entries.map((entry) => entry.kind));
      return { content: 'ok' };
    };
    const tools = [
      recordingTool([], { name: 'look', answer }),
      recordingTool([], { name: 'change', readOnly: false, answer }),
      submitTool(),
    ];
    await runOn(api, { tools, journal, limits: limits({ parallelTools: 1 }) });
    expect(seen).toEqual([
      ['message', 'reply'],
      ['message', 'reply', 'tool.result', 'tool.started'],
    ]);
  });
});

describe('a request', () => {
  it('puts cache breakpoints on system, the last tool and the last block', async () => {
    await using api = await startScriptedApi([reply([toolUse('look')]), submit()]);
    await runOn(api, { tools: [recordingTool([], { name: 'look' }), submitTool()] });
    const ephemeral = { type: 'ephemeral' };
    for (const { body } of api.requests) {
      expect(body.system).toMatchObject([{ cache_control: ephemeral }]);
      expect(body.tools?.map((tool) => tool.cache_control)).toEqual([undefined, ephemeral]);
      const blocks = body.messages.flatMap(blocksOf);
      expect(blocks.findIndex((block) => 'cache_control' in block)).toBe(blocks.length - 1);
    }
  });

  it('delivers notices after the tool results of the turn', async () => {
    await using api = await startScriptedApi([reply([toolUse('look', {}, 'c1')]), submit()]);
    const notices = [[], ['A person says: hurry.', '  ']];
    await runOn(api, {
      tools: [recordingTool([], { name: 'look' }), submitTool()],
      notices: async () => notices.shift() ?? [],
    });
    expect(api.requests[1]?.body.messages.at(-1)?.content).toMatchObject([
      { type: 'tool_result', tool_use_id: 'c1' },
      { type: 'text', text: 'A person says: hurry.' },
    ]);
  });

  it('reminds of the checklist as the last block after three rounds, and at the sixth again [row 34] [row 35] [row 36]', async () => {
    const rounds = Array.from({ length: 6 }, (_, n) =>
      reply([toolUse('look', { n }), toolUse('look', { n })]),
    );
    await using api = await startScriptedApi([...rounds, submit()]);
    const notices = async () => ['A notice.'];
    await runOn(api, {
      tools: [recordingTool([], { name: 'look' }), submitTool()],
      notices,
      checklistRemind: true,
    });
    const reminder = '<reminder>Update your todos.</reminder>';
    const endsWithReminder = api.requests.map(({ body }) => {
      const last = body.messages.at(-1)?.content.at(-1);
      return typeof last === 'object' && last.type === 'text' && last.text === reminder;
    });
    expect(endsWithReminder).toEqual([false, false, false, true, false, false, true]);
    expect(allText(api.requests[6]?.body ?? never()).split(reminder)).toHaveLength(3);
  });
});

function never(): never {
  throw new Error('the request is missing');
}
