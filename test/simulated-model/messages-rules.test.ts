import { describe, expect, it } from 'vitest';
import { checkRequest, type SentReply } from '../support/messages-rules.ts';

const TOOL = { name: 'read_file', description: 'Reads.', input_schema: { type: 'object', properties: {} } };
const user = (content: unknown) => ({ role: 'user', content });
const assistant = (content: unknown) => ({ role: 'assistant', content });
const call = (id: string) => ({ type: 'tool_use', id, name: 'read_file', input: {} });
const result = (id: string, content: unknown = 'ok') => ({ type: 'tool_result', tool_use_id: id, content });
const say = (text: string) => ({ type: 'text', text });

function request(messages: unknown[], extra: Record<string, unknown> = {}) {
  return { model: 'claude-haiku-5-5', max_tokens: 1000, tools: [TOOL], messages, ...extra };
}

describe('checkRequest', () => {
  it('passes a conversation that keeps every rule', () => {
    const messages = [
      user('Go.'),
      assistant([say('Two files.'), call('t1'), call('t2')]),
      user([result('t1'), result('t2', [say('two')]), say('Hurry.')]),
      assistant('Done.'),
      user([{ ...say('Thanks.'), cache_control: { type: 'ephemeral' } }]),
    ];
    expect(checkRequest(request(messages, { system: 'Be brief.', tool_choice: { type: 'auto' } }))).toEqual(
      [],
    );
  });

  const hello = [user('Go.')];
  const called = (...ids: string[]) => [user('Go.'), assistant(ids.map(call))];
  const cases: [string, unknown, RegExp][] = [
    ['a missing max_tokens', request(hello, { max_tokens: undefined }), /max_tokens/],
    ['sampling parameters', request(hello, { temperature: 1 }), /temperature is refused/],
    ['a forced tool', request(hello, { tool_choice: { type: 'tool', name: 'read_file' } }), /forced/],
    ['an unknown field', request(hello, { thread: false }), /thread: extra inputs/],
    ['an assistant first', request([assistant('Hi.'), user('Go.')]), /must have role user/],
    ['an assistant last', request([user('Go.'), assistant('Hi.')]), /last message/],
    ['two user messages in a row', request([user('Go.'), user('Now.')]), /alternate/],
    ['an empty text', request([user([say('')])]), /text must not be empty/],
    ['a result without text', request([...called('t1'), user([result('t1', '')])]), /result's text is empty/],
    ['an empty message', request([user([])]), /content must not be empty/],
    ['a call without an answer', request([...called('t1'), user('Hm.')]), /t1 is answered 0 times/],
    ['a call answered twice', request([...called('t1'), user([result('t1'), result('t1')])]), /2 times/],
    ['an answer to no call', request([...called('t1'), user([result('t1'), result('t9')])]), /t9/],
    ['results out of order', request([...called('a', 'b'), user([result('b'), result('a')])]), /order/],
    ['text before a result', request([...called('a'), user([say('Hi.'), result('a')])]), /before any other/],
    [
      'an id used twice',
      request([...called('a'), user([result('a')]), assistant([call('a')]), user([result('a')])]),
      /used twice/,
    ],
    [
      'a tool that is not offered',
      request([...called('a'), user([result('a')])], { tools: [] }),
      /not offered/,
    ],
    ['a lone surrogate', request([user('cut \ud83d here')]), /lone surrogate/],
    ['a NUL', request([user('a\u0000b')]), /NUL/],
    ['a bad tool name', request(hello, { tools: [{ ...TOOL, name: 'read file' }] }), /bad name/],
    ['two tools of one name', request(hello, { tools: [TOOL, TOOL] }), /unique/],
    [
      'a schema that is no object',
      request(hello, { tools: [{ ...TOOL, input_schema: {} }] }),
      /object schema/,
    ],
    [
      'a union at the top of a schema',
      request(hello, { tools: [{ ...TOOL, input_schema: { type: 'object', oneOf: [] } }] }),
      /oneOf/,
    ],
    [
      'five breakpoints',
      request([
        user(Array.from({ length: 5 }, () => ({ ...say('x'), cache_control: { type: 'ephemeral' } }))),
      ]),
      /found 5/,
    ],
  ];
  it.each(cases)('refuses %s', (_, body, line) => {
    expect(checkRequest(body)).toEqual([expect.stringMatching(line)]);
  });

  it('lets a request end in a paused reply and go on after it, and in no other reply', () => {
    const paused: SentReply = { content: [say('Searching.')], stopReason: 'pause_turn' };
    const messages = [user('Go.'), assistant([say('Searching.')])];
    expect(checkRequest(request(messages), [paused])).toEqual([]);
    expect(checkRequest(request([...messages, assistant('Found.'), user('Ok.')]), [paused])).toEqual([]);
    expect(checkRequest(request(messages), [{ ...paused, stopReason: 'end_turn' }])).toHaveLength(1);
    const spaced: SentReply = { ...paused, content: [say('Searching.\n')] };
    expect(checkRequest(request(messages), [spaced])).toEqual([]);
    const inSpace = request([user('Go.'), assistant(spaced.content)]);
    expect(checkRequest(inSpace, [spaced])).toEqual([expect.stringMatching(/trailing whitespace/)]);
  });
});
