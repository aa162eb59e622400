import Anthropic from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import {
  cutStream,
  cutToolUse,
  errorInStream,
  gate,
  hang,
  overloaded,
  rateLimited,
  redactedThinking,
  reply,
  type Script,
  type ScriptedApi,
  stallStream,
  startScriptedApi,
  text,
  thinking,
  toolUse,
} from '../support/scripted-messages-api.ts';

const TOOLS: Anthropic.Tool[] = [
  { name: 'read_file', description: 'Reads a file.', input_schema: { type: 'object', properties: {} } },
];
const ASK: Anthropic.MessageCreateParamsNonStreaming = {
  model: 'claude-haiku-5-5',
  max_tokens: 1000,
  tools: TOOLS,
  messages: [{ role: 'user', content: 'Read a.md.' }],
};

function clientOf(api: ScriptedApi): Anthropic {
  return new Anthropic({ apiKey: 'test', baseURL: api.url, maxRetries: 0 });
}

async function open(script: Script) {
  const api = await startScriptedApi(script);
  return { api, client: clientOf(api), [Symbol.asyncDispose]: () => api.stop() };
}

describe('replies', () => {
  const long = `${'Zeile mit Umlaut ä und 🙂. '.repeat(60)}end`;
  const content = [
    thinking('First I read the file.', 'sig-1'),
    text(long),
    toolUse('read_file', { path: 'a.md', deep: { list: [1, null, '🙂'] } }, 't1'),
    redactedThinking('opaque'),
    toolUse('read_file', {}, 't2'),
  ];

  it('are the same streamed and whole', async () => {
    await using run = await open([reply(content, { usage: { output_tokens: 7 } }), reply(content)]);
    const streamed = await run.client.messages.stream(ASK).finalMessage();
    const whole = await run.client.messages.create(ASK);
    expect(streamed.content).toEqual(content);
    expect(whole.content).toEqual(content);
    expect(streamed.stop_reason).toBe('tool_use');
    expect(streamed.usage).toMatchObject({ input_tokens: 100, output_tokens: 7, cache_read_input_tokens: 0 });
    expect(run.api.requests.map(({ body }) => body.stream)).toEqual([true, undefined]);
  });

  it('keep a tool input that was cut by max_tokens as partial JSON', async () => {
    const cut = cutToolUse('read_file', '{"path": "a.m');
    await using run = await open([reply([cut], { stopReason: 'max_tokens' })]);
    const partial: string[] = [];
    let stopReason: string | null = null;
    for await (const event of await run.client.messages.create({ ...ASK, stream: true })) {
      if (event.type === 'content_block_delta' && event.delta.type === 'input_json_delta') {
        partial.push(event.delta.partial_json);
      }
      if (event.type === 'message_delta') stopReason = event.delta.stop_reason;
    }
    expect(partial.join('')).toBe('{"path": "a.m');
    expect(stopReason).toBe('max_tokens');
  });

  it('give error classes of the SDK with their headers', async () => {
    await using run = await open([overloaded(), rateLimited(7)]);
    await expect(run.client.messages.create(ASK)).rejects.toBeInstanceOf(Anthropic.OverloadedError);
    const limited = await run.client.messages.create(ASK).catch((error: unknown) => error);
    expect(limited).toBeInstanceOf(Anthropic.RateLimitError);
    expect(limited).toMatchObject({ type: 'rate_limit_error', requestID: 'req_2' });
    expect(limited instanceof Anthropic.RateLimitError && limited.headers?.get('retry-after')).toBe('7');
  });

  it('break a stream by a reset or an error event', async () => {
    await using run = await open([cutStream(3), errorInStream(3)]);
    const events: string[] = [];
    const read = async () => {
      for await (const event of await run.client.messages.create({ ...ASK, stream: true })) {
        events.push(event.type);
      }
    };
    await expect(read()).rejects.toThrow();
    expect(events).toEqual(['message_start', 'content_block_start']);
    await expect(read()).rejects.toMatchObject({ type: 'overloaded_error' });
  });

  it('hang until the client goes away, before or inside a stream', async () => {
    await using run = await open([hang(), stallStream(4)]);
    const first = new AbortController();
    const unanswered = run.client.messages.create(ASK, { signal: first.signal });
    await run.api.arrived(1);
    first.abort();
    await expect(unanswered).rejects.toBeInstanceOf(Anthropic.APIUserAbortError);
    expect(await run.api.requests[0]?.ended).toBe('aborted');
    const stalled = run.client.messages.stream(ASK);
    stalled.once('text', () => stalled.abort());
    await expect(stalled.done()).rejects.toBeInstanceOf(Anthropic.APIUserAbortError);
    expect(await run.api.requests[1]?.ended).toBe('aborted');
  });

  it('wait at a gate until the test opens it', async () => {
    const held = gate(reply([text('now')]));
    await using run = await open([held]);
    let answered = false;
    const call = run.client.messages.create(ASK).then(() => {
      answered = true;
    });
    await held.reached;
    expect(answered).toBe(false);
    held.open();
    await call;
    expect(answered).toBe(true);
  });
});

describe('violations', () => {
  it('make stopping fail, and name the request', async () => {
    const api = await startScriptedApi([reply([text('ok')])]);
    await clientOf(api).messages.create({ ...ASK, messages: [{ role: 'user', content: ' ' }] });
    await expect(api.stop()).rejects.toThrow('request 1: messages[0].content[0]: text must not be empty');
  });

  it('include a call beyond the script and an unknown path', async () => {
    const api = await startScriptedApi([]);
    await expect(clientOf(api).messages.create(ASK)).rejects.toThrow('no reply for call 1');
    await fetch(`${api.url}/v1/models`);
    expect(api.takeViolations()).toHaveLength(2);
    await api.stop();
  });

  it('include thinking that comes back changed, but not thinking that comes back as it was', async () => {
    const said = [thinking('hm', 's1'), text('Reading.'), toolUse('read_file', { path: 'a.md' }, 't1')];
    await using run = await open(() => reply(said));
    const first = await run.client.messages.create(ASK);
    const answered = (content: Anthropic.ContentBlockParam[]): Anthropic.MessageParam[] => [
      ...ASK.messages,
      { role: 'assistant', content },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'text' }] },
    ];
    await run.client.messages.create({ ...ASK, messages: answered(first.content) });
    expect(run.api.violations).toEqual([]);
    const without = first.content.filter((block) => block.type !== 'thinking');
    await run.client.messages.create({ ...ASK, messages: answered(without) });
    const altered = first.content.map((b) => (b.type === 'thinking' ? { ...b, thinking: 'other' } : b));
    await run.client.messages.create({ ...ASK, messages: answered(altered) });
    expect(run.api.takeViolations()).toEqual([
      'request 3: messages[1]: thinking and calls must come back exactly as they were sent',
      'request 4: messages[1]: thinking and calls must come back exactly as they were sent',
    ]);
  });
});
