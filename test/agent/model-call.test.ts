import { createServer } from 'node:http';
import { describe, expect, it, vi } from 'vitest';
import { createModelCall, ModelCallError, type ModelRequest } from '../../packages/agent/src/index.ts';
import { freePort } from '../support/redis-server.ts';
import {
  cutStream,
  errorInStream,
  gate,
  hang,
  httpError,
  overloaded,
  rateLimited,
  reply,
  type ScriptedReply,
  stallStream,
  startScriptedApi,
  text,
  thinking,
  toolUse,
} from '../support/scripted-messages-api.ts';

const KEY = 'canary-key-0123456789';
const REQUEST: ModelRequest = {
  model: 'claude-test',
  system: [],
  tools: [{ name: 'look', description: 'Looks.', input_schema: { type: 'object' } }],
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello.' }] }],
  maxTokens: 64_000,
};

function callOn(
  url: string,
  { idleMs = 5000, signal = new AbortController().signal, tailMs }: CallOnOptions = {},
) {
  const tail = tailMs === undefined ? {} : { tailMs };
  return createModelCall({ baseUrl: url, apiKey: KEY, idleMs, ...tail })(REQUEST, { signal });
}

interface CallOnOptions {
  idleMs?: number | undefined;
  signal?: AbortSignal;
  tailMs?: number;
}

/** Returns the error of one call that the script answers with `scripted`. */
async function errorOf(scripted: ScriptedReply, idleMs?: number): Promise<ModelCallError> {
  await using api = await startScriptedApi([scripted]);
  const error: unknown = await callOn(api.url, { idleMs }).catch((thrown: unknown) => thrown);
  expect(api.requests).toHaveLength(1);
  if (!(error instanceof ModelCallError)) throw new Error(`no ModelCallError: ${String(error)}`);
  return error;
}

/** Serves one raw body for any request. `open` leaves the answer open, with a ping every so many ms. */
async function serveRaw(body: string, open?: { pingMs: number }, type = 'text/event-stream') {
  let closed = () => {};
  const gone = new Promise<void>((resolve) => {
    closed = resolve;
  });
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': type });
    if (open === undefined) return void response.end(body);
    response.write(body);
    const pings = setInterval(() => response.write(events({ type: 'ping' })), open.pingMs);
    response.once('close', () => {
      clearInterval(pings);
      closed();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    /** Resolves when the client has closed an answer that was left open. */
    gone,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  };
}

function events(...list: { type: string; [field: string]: unknown }[]): string {
  return list.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

describe('a model call', () => {
  it('streams, and gives the whole reply with fresh and cached tokens apart', async () => {
    const content = [
      thinking('Hm.', 'sig-1'),
      text('I look at Größe 👩‍👩‍👧.'),
      toolUse('look', { at: { x: [1, 'two'] } }, 'c1'),
      { type: 'something_new', data: { kept: true } },
    ];
    const usage = {
      input_tokens: 5,
      output_tokens: 9,
      cache_read_input_tokens: 70,
      cache_creation_input_tokens: 8,
    };
    await using api = await startScriptedApi([reply(content, { usage })]);
    expect(await callOn(api.url)).toEqual({
      messageId: 'msg_1',
      model: 'claude-test',
      content,
      stopReason: 'tool_use',
      usage: { modelCalls: 1, inputTokens: 5, outputTokens: 9, cacheReadTokens: 70, cacheWriteTokens: 8 },
    });
    expect(api.requests[0]?.body).toMatchObject({ stream: true, max_tokens: 64_000 });
    expect(api.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
  });

  it('passes over pings and events of unknown types, and keeps citations', async () => {
    const usage = { input_tokens: 1, output_tokens: 1 };
    const block = { type: 'text', text: '', citations: null };
    const delta = (value: object) => ({ type: 'content_block_delta', index: 0, delta: value });
    await using server = await serveRaw(
      events(
        { type: 'message_start', message: { id: 'm', model: 'x', usage } },
        { type: 'ping' },
        { type: 'content_block_start', index: 0, content_block: block },
        { type: 'brand_new_event', anything: 1 },
        delta({ type: 'citations_delta', citation: { cited_text: 'a' } }),
        delta({ type: 'text_delta', text: 'as said' }),
        delta({ type: 'brand_new_delta', more: 1 }),
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 4 } },
        { type: 'message_stop' },
      ),
    );
    expect(await callOn(server.url)).toMatchObject({
      content: [{ type: 'text', text: 'as said', citations: [{ cited_text: 'a' }] }],
      usage: { inputTokens: 1, outputTokens: 4 },
    });
  });

  it('wraps an input that is no JSON object, so that it can be sent back and the tool refuses it', async () => {
    const usage = { input_tokens: 1, output_tokens: 1 };
    const broken = (partial_json: string, index: number) => [
      {
        type: 'content_block_start',
        index,
        content_block: { type: 'tool_use', id: `c${index}`, name: 'look', input: {} },
      },
      { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json } },
      { type: 'content_block_stop', index },
    ];
    await using server = await serveRaw(
      events(
        { type: 'message_start', message: { id: 'm', model: 'x', usage } },
        ...broken('{"a": ', 0),
        ...broken('[1]', 1),
        { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
        { type: 'message_stop' },
      ),
    );
    const { content } = await callOn(server.url);
    expect(content.map((block) => block.input)).toEqual([
      { INVALID_JSON: '{"a": ' },
      { INVALID_JSON: '[1]' },
    ]);
  });

  it('is abandoned with the reason of its signal', async () => {
    const held = gate(reply([text('late')]));
    await using api = await startScriptedApi([held]);
    const controller = new AbortController();
    const call = callOn(api.url, { signal: controller.signal });
    await held.reached;
    controller.abort('cancelled');
    await expect(call).rejects.toBe('cancelled');
    expect(await api.requests[0]?.ended).toBe('aborted');
  });
});

const usage = { input_tokens: 1, output_tokens: 1 };
const start = { type: 'message_start', message: { id: 'm', model: 'x', usage } };
const callBlock = (index: number, id: string) => ({
  type: 'content_block_start',
  index,
  content_block: { type: 'tool_use', id, name: 'look', input: {} },
});
const stopBlock = (index: number) => ({ type: 'content_block_stop', index });
const json = (index: number, partial_json: string) => ({
  type: 'content_block_delta',
  index,
  delta: { type: 'input_json_delta', partial_json },
});
const end = [{ type: 'message_delta', delta: { stop_reason: 'tool_use' } }, { type: 'message_stop' }];
const whole = [start, callBlock(0, 'c1'), json(0, '{"at":1}'), stopBlock(0), ...end];

describe('the blocks of a reply', () => {
  it('are all closed and never begun or extended again, or it is no reply', async () => {
    for (const [broken, reason] of [
      [[start, callBlock(0, 'c1'), json(0, '{"at":1}'), ...end], 'within block 0'],
      [[start, callBlock(0, 'c1'), stopBlock(0), callBlock(1, 'c2'), ...end], 'within block 1'],
      [[start, callBlock(0, 'c1'), stopBlock(0), json(0, '{"at":1}'), ...end], 'not open'],
      [[start, callBlock(0, 'c1'), callBlock(0, 'c2'), stopBlock(0), ...end], 'started twice'],
    ] as const) {
      await using server = await serveRaw(events(...broken));
      await expect(callOn(server.url)).rejects.toMatchObject({
        kind: 'transient',
        message: expect.stringContaining(reason),
      });
    }
  });

  it('are those before its end: what follows is ignored', async () => {
    const late = [
      callBlock(1, 'c2'),
      stopBlock(1),
      { type: 'error', error: { type: 'api_error', message: '' } },
    ];
    await using server = await serveRaw(events(...whole, ...late));
    expect((await callOn(server.url)).content).toMatchObject([{ id: 'c1', input: { at: 1 } }]);
  });

  it('end with an error frame, named or not', async () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    await using server = await serveRaw(`${events(start)}data: ${JSON.stringify(error)}\n\n`);
    await expect(callOn(server.url)).rejects.toMatchObject({ kind: 'overloaded' });
  });
});

describe('an answer that stays open after its reply', () => {
  it('costs no more than its bound, pings or not, and is closed then', async () => {
    for (const pingMs of [5, 60_000]) {
      await using server = await serveRaw(events(...whole), { pingMs });
      const before = performance.now();
      const { content } = await callOn(server.url, { idleMs: 20_000, tailMs: 50 });
      expect(performance.now() - before).toBeLessThan(5000);
      expect(content).toMatchObject([{ id: 'c1', input: { at: 1 } }]);
      await server.gone;
    }
  });
});

describe('a failing model call', () => {
  it('is transient when its stream ends early, goes silent, or holds no events', async () => {
    for (const scripted of [cutStream(0), cutStream(3)]) {
      expect(await errorOf(scripted)).toMatchObject({ kind: 'transient' });
    }
    for (const scripted of [hang(), stallStream(2)]) {
      const error = await errorOf(scripted, 300);
      expect(error).toMatchObject({ kind: 'transient', message: 'nothing came from the model for 300 ms' });
    }
    for (const body of ['', '<html>busy</html>', 'event: message_start\ndata: {"type": \n\n']) {
      await using server = await serveRaw(body);
      await expect(callOn(server.url)).rejects.toMatchObject({ kind: 'transient' });
    }
    await expect(callOn(`http://127.0.0.1:${await freePort()}`)).rejects.toMatchObject({
      kind: 'transient',
      message: expect.stringContaining('ECONNREFUSED'),
    });
  });

  it('says in one short line what is wrong with a stream', async () => {
    const bare = { type: 'message_start', message: { id: 'm', model: 'm' } };
    const odd = { ...start, message: { ...start.message, usage: { input_tokens: -1 } } };
    const noReason = { type: 'message_delta', delta: { stop_reason: null } };
    const error = (message: unknown) => ({ type: 'error', error: { type: 'strange_error', message } });
    const cases: [body: string, says: string][] = [
      [events(bare), 'malformed: message_start has a wrong or missing message.usage'],
      [events(odd), 'malformed: message_start has a wrong or missing message.usage.input_tokens'],
      [events(start, { type: 'content_block_start' }), 'content_block_start has a wrong or missing index'],
      [events(start, noReason, { type: 'message_stop' }), 'malformed: the reply ended without a stop reason'],
      [events({ type: 'message_stop' }), 'malformed: the reply ended before it began'],
      ['data: {oops\n\n', 'malformed: an event holds no JSON'],
      [events({ type: 'error' }), 'ended with an error that does not say what it is'],
      [events(error('two\nlines \u001b[31m\u202e')), 'strange_error: two lines \\u001b[31m\\u202e'],
      [events(error('x'.repeat(5000))), '…'],
      [events(start), 'the stream ended before the reply did'],
    ];
    for (const [body, says] of cases) {
      // Left open: none of them waits for the end, or for the silence, of its answer.
      await using server = await serveRaw(body, body === events(start) ? undefined : { pingMs: 5 });
      const failed: unknown = await callOn(server.url).catch((thrown: unknown) => thrown);
      if (!(failed instanceof ModelCallError)) throw new Error(`no ModelCallError: ${String(failed)}`);
      expect(failed.kind).toBe('transient');
      expect(failed.message).toContain(says);
      expect(failed.message).toMatch(/^[^\p{Cc}\p{Cf}]{1,500}$/u);
    }
  });

  it('says so of an answer that is no stream', async () => {
    const whole = '{"id": "m", "type": "message",\n"content": []}';
    for (const [body, type] of [
      [whole, 'application/json'],
      ['<html>\nbusy</html>', 'text/html; charset=utf-8'],
    ] as const) {
      await using server = await serveRaw(body, undefined, type);
      const message = `the model's answer is no event stream but ${type}`;
      await expect(callOn(server.url)).rejects.toMatchObject({ kind: 'transient', message });
    }
  });

  it('says so of an answer without a body', async () => {
    const bodiless = async () => new Response(null, { status: 204 });
    const callModel = createModelCall({
      baseUrl: 'http://a.test',
      apiKey: KEY,
      idleMs: 5000,
      fetch: bodiless,
    });
    await expect(callModel(REQUEST, { signal: new AbortController().signal })).rejects.toMatchObject({
      kind: 'transient',
      message: 'the model answered 204 and nothing else',
    });
  });

  it('may ask for a pause of a year at most', async () => {
    const yearMs = 365 * 24 * 3_600_000;
    for (const asked of ['99999999999999', '1e307', new Date(8.64e15).toUTCString()]) {
      const error = await errorOf(httpError(429, 'rate_limit_error', { 'retry-after': asked }));
      expect(error.retryAfterMs, asked).toBe(yearMs);
    }
  });

  it('of a deprecated model warns nobody', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    await using api = await startScriptedApi([reply([text('Hi.')])]);
    const callModel = createModelCall({ baseUrl: api.url, apiKey: KEY, idleMs: 5000 });
    // One of those that the SDK's own `messages.create` warns of.
    const model = 'claude-mythos-preview';
    const answered = await callModel({ ...REQUEST, model }, { signal: new AbortController().signal });
    expect(answered.stopReason).toBe('end_turn');
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });

  it('is told apart by status and type', async () => {
    expect(await errorOf(overloaded())).toMatchObject({ kind: 'overloaded', status: 529 });
    expect(await errorOf(errorInStream(2))).toMatchObject({ kind: 'overloaded' });
    expect(await errorOf(httpError(500, 'api_error'))).toMatchObject({ kind: 'transient', status: 500 });
    expect(await errorOf(httpError(402, 'billing_error'))).toMatchObject({ kind: 'provider', status: 402 });
    expect(await errorOf(httpError(413, 'request_too_large'))).toMatchObject({ kind: 'context' });
  });

  it('says how long to wait, from seconds, milliseconds or a date', async () => {
    expect(await errorOf(rateLimited(7))).toMatchObject({ kind: 'rate_limited', retryAfterMs: 7000 });
    expect(await errorOf(overloaded({ 'retry-after-ms': '250' }))).toMatchObject({ retryAfterMs: 250 });
    const serverNow = Date.parse('2030-01-01T00:00:00Z');
    const date = new Date(serverNow).toUTCString();
    const later = new Date(serverNow + 90_000).toUTCString();
    expect(await errorOf(overloaded({ date, 'retry-after': later }))).toMatchObject({ retryAfterMs: 90_000 });
    for (const wrong of ['0', '-3', 'soon']) {
      expect((await errorOf(overloaded({ 'retry-after': wrong }))).retryAfterMs).toBeUndefined();
    }
  });

  it('waits for every limit that is used up, as well as for what is asked', async () => {
    const headers = {
      date: '2030-01-01T00:00:00Z',
      'retry-after': '5',
      'anthropic-ratelimit-requests-remaining': '0',
      'anthropic-ratelimit-requests-reset': '2030-01-01T00:00:07Z',
      'anthropic-ratelimit-input-tokens-remaining': '0',
      'anthropic-ratelimit-input-tokens-reset': '2030-01-01T00:00:11Z',
      'anthropic-ratelimit-output-tokens-remaining': '1000',
      'anthropic-ratelimit-output-tokens-reset': '2030-01-01T00:01:00Z',
    };
    expect(await errorOf(httpError(429, 'rate_limit_error', headers))).toMatchObject({
      retryAfterMs: 11_000,
    });
  });

  it('never shows the key, nor anything like one', async () => {
    const echo = `bad header Authorization: Bearer ${KEY}, x-api-key: sk-ant-other-99999999, key ${KEY}`;
    const error = await errorOf(httpError(401, 'authentication_error', { 'x-echo': KEY }, echo));
    const everything = JSON.stringify([error.message, error.stack, String(error.cause), { ...error }]);
    expect(everything).toContain('bad header');
    expect(everything).not.toContain(KEY);
    expect(everything).not.toContain('sk-ant');
  });
});

describe('the options of a model call', () => {
  const good = { baseUrl: 'http://127.0.0.1:1', apiKey: KEY, idleMs: 1000 };
  it.each([
    ['baseUrl', { baseUrl: '' }],
    ['baseUrl', { baseUrl: 'not a url' }],
    ['baseUrl', { baseUrl: 'ftp://example.com' }],
    ['idleMs', { idleMs: 0 }],
    ['idleMs', { idleMs: Number.NaN }],
    ['idleMs', { idleMs: Number.POSITIVE_INFINITY }],
    ['tailMs', { tailMs: -1 }],
  ])('are refused when they make no sense: %s of %o', (name, options) => {
    expect(() => createModelCall({ ...good, ...options })).toThrow(
      expect.objectContaining({
        code: 'invalid_argument',
        detail: expect.stringContaining(`${name} must be`),
      }),
    );
  });

  it('hold when no timer can wait so long', async () => {
    await using api = await startScriptedApi([reply([text('Hi.')])]);
    const answered = await callOn(api.url, { idleMs: 1e12 + 0.5, tailMs: 1e12 });
    expect(answered.stopReason).toBe('end_turn');
  });
});
