import Anthropic from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import {
  respond,
  type SimulatedModelOptions,
  startSimulatedModel,
} from '../../packages/simulated-model/src/index.ts';
import { callsIn, opening } from './conversations.ts';

async function open(options: SimulatedModelOptions = {}) {
  const server = await startSimulatedModel(options);
  const client = new Anthropic({ apiKey: 'any', baseURL: server.url, maxRetries: 0 });
  return { server, client, [Symbol.asyncDispose]: () => server.stop() };
}

const TOOLS: Anthropic.Tool[] = ['board_submit', 'read_file'].map((name) => ({
  name,
  description: name,
  input_schema: { type: 'object' },
}));
const TASK = '<task>\n{"taskId":"t_22222222","title":"Review","input":{"path":"a.md"}}\n</task>';
const ASK = { model: 'claude-haiku-5-5', max_tokens: 4000, tools: TOOLS };

describe('the simulated model over HTTP', () => {
  it('plays a sub-agent to its end with the real SDK, streamed', async () => {
    await using run = await open();
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: TASK }];
    const first = await run.client.messages.stream({ ...ASK, messages }).finalMessage();
    expect(first.stop_reason).toBe('tool_use');
    const [read] = callsIn(first.content.map((block) => ({ ...block })));
    expect(read).toMatchObject({ name: 'read_file', input: { path: 'a.md', limit: 100_000 } });
    messages.push(
      { role: 'assistant', content: first.content },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: read?.id ?? '',
            content: 'a.md · characters 0-6 of 6 · 9 bytes\n# Ä 🙂',
          },
        ],
      },
    );
    const second = await run.client.messages.stream({ ...ASK, messages }).finalMessage();
    expect(callsIn(second.content.map((block) => ({ ...block })))[0]?.input).toMatchObject({
      output: { file: 'a.md', title: 'Ä 🙂' },
    });
    const whole = await run.client.messages.create({ ...ASK, messages });
    expect(whole.content).toEqual(second.content);
    expect(whole.usage).toEqual(second.usage);
  });

  it('answers an unknown agent with a short text', async () => {
    await using run = await open();
    const probe = {
      model: 'claude-haiku-5-5',
      max_tokens: 16,
      messages: [{ role: 'user' as const, content: 'ping' }],
    };
    const reply = await run.client.messages.create(probe);
    expect(reply.content).toMatchObject([{ type: 'text' }]);
    expect(reply.usage.output_tokens).toBeLessThanOrEqual(16);
  });

  it('refuses a malformed body, an unknown path and another method in the shape of the API', async () => {
    await using run = await open();
    const post = (body: string, path = '/v1/messages') =>
      fetch(run.server.url + path, { method: 'POST', body });
    const bodies = [
      '{',
      '{}',
      '{"model":"m","max_tokens":1,"messages":[{"role":"assistant","content":"x"}]}',
    ];
    for (const body of bodies) {
      const answer = await post(body);
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } });
    }
    const unknown = run.client.models.list();
    await expect(unknown).rejects.toBeInstanceOf(Anthropic.NotFoundError);
    expect((await fetch(`${run.server.url}/v1/messages`)).status).toBe(405);
  });

  it('asks for the key only when it has one', async () => {
    await using run = await open({ requireKey: 'secret' });
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'ping' }];
    await expect(run.client.messages.create({ ...ASK, messages })).rejects.toMatchObject({
      status: 401,
      type: 'authentication_error',
    });
    const known = new Anthropic({ apiKey: 'secret', baseURL: run.server.url, maxRetries: 0 });
    await expect(known.messages.create({ ...ASK, messages })).resolves.toMatchObject({ role: 'assistant' });
  });

  it('frees its port and drops waiting calls when it stops', async () => {
    const { server, client } = await open({ latencyMs: 60_000 });
    const call = client.messages.create({ ...ASK, messages: [{ role: 'user', content: TASK }] });
    const dropped = expect(call).rejects.toBeInstanceOf(Anthropic.APIConnectionError);
    await expect(startSimulatedModel({ port: server.port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await server.stop();
    await dropped;
    const again = await startSimulatedModel({ port: server.port });
    await again.stop();
  });
});

describe('respond', () => {
  it('gives the same reply to the same request, and other IDs to another', () => {
    const request = opening(['board_submit', 'read_file'], TASK);
    expect(respond(request)).toEqual(respond(structuredClone(request)));
    const other = opening(['board_submit', 'read_file'], `${TASK} more`);
    expect(callsIn(respond(other).content)[0]?.id).not.toBe(callsIn(respond(request).content)[0]?.id);
  });

  it('ends at max_tokens in the middle of a call, as a real reply does', () => {
    const request = opening(['board_submit', 'read_file'], TASK, 8);
    const reply = respond(request);
    expect(reply.stopReason).toBe('max_tokens');
    expect(reply.usage.output_tokens).toBeLessThanOrEqual(8);
    expect(typeof reply.content.at(-1)?.input).toBe('string');
  });

  it('counts what earlier requests sent as read from the cache, and the rest as written to it', () => {
    const system = [{ type: 'text', text: 'word '.repeat(2000), cache_control: { type: 'ephemeral' } }];
    const first = { ...opening(['read_file'], 'Hello there.'), system };
    const opened = respond(first).usage;
    expect(opened).toMatchObject({ cache_read_input_tokens: 0 });
    expect(opened.cache_creation_input_tokens).toBeGreaterThan(2000);
    const next = respond({
      ...first,
      messages: [
        ...first.messages,
        { role: 'assistant', content: 'Hi.' },
        {
          role: 'user',
          content: [{ type: 'text', text: 'x '.repeat(4000), cache_control: { type: 'ephemeral' } }],
        },
      ],
    }).usage;
    expect(next.cache_read_input_tokens).toBeGreaterThanOrEqual(opened.cache_creation_input_tokens);
    expect(next.cache_creation_input_tokens).toBeGreaterThan(1900);
    const plain = respond({ ...first, system: 'word '.repeat(2000) }).usage;
    expect(plain).toMatchObject({ cache_read_input_tokens: 0, cache_creation_input_tokens: 0 });
    expect(plain.input_tokens).toBeGreaterThan(2000);
  });
});
