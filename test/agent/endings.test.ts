import { describe, expect, it } from 'vitest';
import {
  allText,
  cutToolUse,
  httpError,
  lastResults,
  redactedThinking,
  reply,
  startScriptedApi,
  text,
  thinking,
  toolUse,
} from '../support/scripted-messages-api.ts';
import { recordingTool, runOn, submitTool, type ToolCallRecord } from './support.ts';

const submit = () => reply([toolUse('submit')]);

describe('endings', () => {
  it('nudges a plain ending twice, then fails as class model', async () => {
    await using api = await startScriptedApi([1, 2, 3].map((n) => reply([text(`All done ${n}.`)])));
    const { outcome } = await runOn(api);
    expect(outcome).toMatchObject({ kind: 'failed', class: 'model', turns: 3 });
    expect(allText(api.requests[1]?.body ?? never())).toContain('call of submit');
  });

  it('nudges an empty ending once, drops empty text and says so of an empty result (case 2)', async () => {
    await using api = await startScriptedApi([
      reply([text(''), toolUse('quiet', {}, 'c1')]),
      reply([]),
      reply([text(' ')]),
    ]);
    const tools = [recordingTool([], { name: 'quiet', answer: { content: '' } }), submitTool()];
    const { outcome } = await runOn(api, { tools });
    expect(lastResults(api.requests[1]?.body ?? never())).toMatchObject([{ id: 'c1', text: '(no output)' }]);
    expect(outcome).toMatchObject({ kind: 'failed', class: 'model', turns: 3 });
  });

  it('counts nudges anew after a turn with tool calls', async () => {
    const plain = () => reply([text('Hm.')]);
    await using api = await startScriptedApi([
      plain(),
      plain(),
      reply([toolUse('look')]),
      plain(),
      plain(),
      submit(),
    ]);
    const { outcome } = await runOn(api, { tools: [recordingTool([], { name: 'look' }), submitTool()] });
    expect(outcome).toMatchObject({ kind: 'done', turns: 6 });
  });

  it('lets the caller take a plain ending as an end', async () => {
    await using api = await startScriptedApi([reply([text('I wait.')])]);
    const plainEnding = async () => ({ kind: 'parked', reason: 'waiting for news' }) as const;
    const { outcome } = await runOn(api, { plainEnding });
    expect(outcome).toMatchObject({ kind: 'parked', cause: 'tool', reason: 'waiting for news' });
  });

  it('sends paused turns back unchanged, ten times at most (case 3)', async () => {
    const search = { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: { query: 'q' } };
    const paused = (n: number) =>
      reply([text(`Looking ${n}.`), { ...search, id: `srv_${n}` }], { stopReason: 'pause_turn' });
    await using api = await startScriptedApi([paused(1), paused(2), paused(3), submit()]);
    const { outcome } = await runOn(api, { notices: async () => ['A notice.'] });
    expect(outcome).toMatchObject({ kind: 'done', turns: 4, usage: { modelCalls: 4, inputTokens: 400 } });
    const sent = api.requests[3]?.body.messages ?? [];
    expect(sent.map((message) => message.role)).toEqual(['user', 'assistant', 'assistant', 'assistant']);
    expect(sent.slice(1).map((message) => message.content)).toEqual([1, 2, 3].map((n) => paused(n).content));

    await using endless = await startScriptedApi((_, n) => paused(n));
    const over = await runOn(endless);
    expect(over.outcome).toMatchObject({ kind: 'failed', class: 'model', turns: 11 });
  });

  it('sends a paused turn back without white space at its end, at once and later on', async () => {
    const search = { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: { query: 'q' } };
    const paused = { stopReason: 'pause_turn' };
    await using api = await startScriptedApi([
      reply([search, text('Let me look further.\n\n')], paused),
      reply([text('Further. '), text(' \n')], paused),
      reply([text(' Well, '), toolUse('look')]),
      submit(),
    ]);
    const { outcome } = await runOn(api, { tools: [recordingTool([], { name: 'look' }), submitTool()] });
    expect(outcome).toMatchObject({ kind: 'done', turns: 4 });
    const first = [search, text('Let me look further.')];
    const second = [text('Further.')];
    const assistant = ({ body }: (typeof api.requests)[number]) =>
      body.messages.filter(({ role }) => role === 'assistant').map(({ content }) => content);
    expect(api.requests.map(assistant)).toEqual([
      [],
      [first],
      [first, second],
      [first, second, [text(' Well, '), expect.objectContaining({ name: 'look' })]],
    ]);
  });

  it('counts no pause as an ending', async () => {
    const paused = () => reply([text('Looking.')], { stopReason: 'pause_turn' });
    const plain = () => reply([text('Done.')]);
    await using api = await startScriptedApi([paused(), paused(), plain(), paused(), plain(), submit()]);
    const { outcome, events } = await runOn(api);
    expect(outcome).toMatchObject({ kind: 'done', turns: 6 });
    expect(events.filter(({ type }) => type === 'nudged')).toHaveLength(2);

    await using third = await startScriptedApi([plain(), paused(), plain(), paused(), plain()]);
    expect((await runOn(third)).outcome).toMatchObject({ kind: 'failed', class: 'model', turns: 5 });

    await using empty = await startScriptedApi([paused(), paused(), reply([]), submit()]);
    expect((await runOn(empty)).outcome).toMatchObject({ kind: 'done', turns: 4 });
  });

  it('fails as class model when all it gets are replies that can not be used', async () => {
    await using api = await startScriptedApi(() => reply([toolUse('no such name!')]));
    const { outcome, journal } = await runOn(api);
    expect(outcome).toMatchObject({
      kind: 'failed',
      class: 'model',
      reason: expect.stringContaining('block 0 (tool_use) is malformed'),
    });
    expect(api.requests).toHaveLength(3);
    expect(journal.entries.some((entry) => entry.kind === 'reply')).toBe(false);
  });

  it('drops a reply that was cut, never runs its calls, and asks again with twice the tokens', async () => {
    const calls: ToolCallRecord[] = [];
    const cut = () => reply([toolUse('look'), cutToolUse('submit', '{"sum')], { stopReason: 'max_tokens' });
    await using api = await startScriptedApi([cut(), cut(), submit()]);
    const { outcome } = await runOn(api, {
      tools: [recordingTool(calls, { name: 'look' }), submitTool()],
      maxTokens: 1000,
    });
    expect(outcome).toMatchObject({ kind: 'done', turns: 3, usage: { modelCalls: 3 } });
    expect(calls).toEqual([]);
    expect(api.requests.map(({ body }) => body.max_tokens)).toEqual([1000, 2000, 4000]);
    expect(api.requests[2]?.body.messages).toEqual(api.requests[0]?.body.messages);

    await using always = await startScriptedApi(() => cut());
    expect((await runOn(always)).outcome).toMatchObject({ kind: 'truncated', turns: 3 });
  });

  it('stops on a refusal and on a full window', async () => {
    await using refusing = await startScriptedApi([reply([text('I will not.')], { stopReason: 'refusal' })]);
    expect((await runOn(refusing)).outcome).toMatchObject({
      kind: 'refused',
      reason: 'the model refused to go on. I will not.',
    });
    await using full = await startScriptedApi([reply([], { stopReason: 'model_context_window_exceeded' })]);
    expect((await runOn(full)).outcome).toMatchObject({ kind: 'context' });
    await using long = await startScriptedApi([
      httpError(400, 'invalid_request_error', {}, 'prompt is too long: 201000 tokens > 200000 maximum'),
    ]);
    expect((await runOn(long)).outcome).toMatchObject({ kind: 'context', turns: 0 });
  });

  it('sends thinking back as it came (case 6)', async () => {
    const first = reply([
      thinking('Two steps.', 'sig-x'),
      text('I look.'),
      toolUse('look', {}, 'c1'),
      redactedThinking('opaque'),
      toolUse('look', {}, 'c2'),
    ]);
    await using api = await startScriptedApi([first, submit()]);
    await runOn(api, { tools: [recordingTool([], { name: 'look' }), submitTool()] });
    expect(api.requests[1]?.body.messages[1]?.content).toEqual(first.content);
  });
});

function never(): never {
  throw new Error('the request is missing');
}
