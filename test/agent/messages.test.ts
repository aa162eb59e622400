import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toMessages } from '../../packages/agent/src/index.ts';
import { JournalEntry, type NewJournalEntry, NO_USAGE } from '../../packages/contracts/src/index.ts';
import { checkRequest } from '../support/scripted-messages-api.ts';

function journal(...entries: NewJournalEntry[]): JournalEntry[] {
  return entries.map((entry, at) => JournalEntry.parse({ v: 1, id: String(at), attempt: 1, ...entry }));
}

function replied(
  content: { type: string; [key: string]: unknown }[],
  stopReason = 'tool_use',
): NewJournalEntry {
  return { kind: 'reply', messageId: 'm', model: 'x', content, stopReason, usage: NO_USAGE };
}

function said(...texts: string[]): NewJournalEntry {
  return { kind: 'message', texts };
}

function result(toolUseId: string, content = 'ok', isError = false): NewJournalEntry {
  return { kind: 'tool.result', toolUseId, content, isError };
}

const call = (id: string, name = 'look') => ({ type: 'tool_use', id, name, input: {} });

describe('the messages of a journal', () => {
  it('hold results in call order before any text, whatever order they were journalled in', () => {
    const entries = journal(
      said('go'),
      replied([call('a'), call('b')]),
      result('b'),
      said('steer'),
      result('a', ''),
      result('a', 'twice'),
      result('foreign'),
    );
    expect(toMessages(entries).at(-1)).toEqual({
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'a', content: '(no output)' },
        { type: 'tool_result', tool_use_id: 'b', content: 'ok' },
        { type: 'text', text: 'steer' },
      ],
    });
  });

  it('pass blocks of unknown types on as they came, and hold no fixed number of blocks [row 43] [row 44]', () => {
    const odd = { type: 'from_the_future', nested: { deep: [1, null] } };
    const entries = journal(
      said('go'),
      replied([odd, { type: 'text', text: 'x' }, odd], 'end_turn'),
      said('on'),
    );
    expect(toMessages(entries)[1]).toEqual({
      role: 'assistant',
      content: [odd, { type: 'text', text: 'x' }, odd],
    });
  });

  it('are the same with and without notes [row 118]', () => {
    const note: NewJournalEntry = { kind: 'note', name: 'todo/write', data: { todos: [] } };
    const plain = [said('go'), replied([call('a')]), result('a'), replied([call('b')]), result('b')];
    const noted = plain.flatMap((entry) => [entry, note]);
    expect(JSON.stringify(toMessages(journal(...noted)))).toBe(JSON.stringify(toMessages(journal(...plain))));
  });

  it('leave out everything before the last fresh start', () => {
    const entries = journal(said('old'), replied([call('a')]), { kind: 'start', fresh: true }, said('new'));
    expect(toMessages(entries)).toEqual([{ role: 'user', content: [{ type: 'text', text: 'new' }] }]);
  });

  it('say that the outcome is unknown where a result is missing', () => {
    const entries = journal(said('go'), replied([call('a')]));
    expect(toMessages(entries).at(-1)?.content).toMatchObject([
      { tool_use_id: 'a', is_error: true, content: expect.stringContaining('outcome unknown') },
    ]);
  });

  it('hold texts back while a paused reply goes on', () => {
    const paused = replied([{ type: 'text', text: 'looking' }], 'pause_turn');
    const cut = replied([{ type: 'text', text: 'cut' }], 'max_tokens');
    const open = journal(said('go'), paused, said('steer'), cut);
    expect(toMessages(open).map(({ role }) => role)).toEqual(['user', 'assistant']);
    const closed = journal(said('go'), paused, said('steer'), cut, replied([call('a')]), result('a'));
    expect(toMessages(closed).at(-1)?.content).toMatchObject([
      { type: 'tool_result' },
      { type: 'text', text: 'steer' },
    ]);
  });

  it('carry the reminder at the rounds that have tool calls only, and not after the checklist [row 37] [row 39]', () => {
    const round = (n: number, name = 'look') => [
      replied([call(`c${n}`, name), call(`d${n}`)]),
      result(`c${n}`),
      result(`d${n}`),
    ];
    const spoken = [replied([{ type: 'text', text: 'hm' }], 'end_turn'), said('go on')];
    const reminders = (...entries: NewJournalEntry[]) =>
      JSON.stringify(toMessages(journal(said('go'), ...entries), { remind: true })).split('<reminder>')
        .length - 1;
    expect(reminders(...round(1), ...round(2))).toBe(0);
    expect(reminders(...round(1), ...spoken, ...spoken, ...round(2))).toBe(0);
    expect(reminders(...round(1), ...round(2), ...round(3))).toBe(1);
    expect(reminders(...round(1), ...round(2, 'todo_write'), ...round(3), ...round(4))).toBe(0);
    expect(reminders(...round(1), ...round(2), ...round(3), ...round(4), ...round(5))).toBe(1);
  });
});

const STOPS = [
  'end_turn',
  'tool_use',
  'max_tokens',
  'pause_turn',
  'refusal',
  'model_context_window_exceeded',
];
const block = fc.oneof(
  fc.constantFrom('', ' ', 'words').map((text) => ({ type: 'text', text })),
  fc.constant({ type: 'thinking', thinking: 't', signature: 's' }),
  fc.nat(3).map((n) => call(`c${n}`)),
);
const uniqueCalls = (blocks: { type: string; id?: unknown }[]) =>
  blocks.filter(({ id }, at) => id === undefined || blocks.findIndex((other) => other.id === id) === at);
const anyEntry: fc.Arbitrary<NewJournalEntry> = fc.oneof(
  fc
    .tuple(fc.array(block, { maxLength: 5 }), fc.constantFrom(...STOPS))
    .map(([content, stop]) => replied(uniqueCalls(content), stop)),
  fc.nat(4).map((n) => result(`c${n}`, n % 2 === 0 ? '' : 'out', n === 3)),
  fc.nat(3).map((n): NewJournalEntry => ({ kind: 'tool.started', toolUseId: `c${n}`, name: 'look' })),
  fc.constantFrom('a text', '  ').map((text) => said(text)),
);

describe('the messages of any journal', () => {
  it('answer every call once, right after it, and have no empty text', () => {
    fc.assert(
      fc.property(fc.array(anyEntry, { maxLength: 20 }), (entries) => {
        const messages = toMessages(journal(said('go'), ...entries), { remind: true });
        const body = {
          model: 'x',
          max_tokens: 1,
          tools: [{ name: 'look', input_schema: { type: 'object' } }],
          messages,
        };
        // A journal may end with a reply, may have two in a row, and uses the same few IDs in every turn.
        const allowed = /roles must alternate|the last message must be|ids must be unique/;
        expect(checkRequest(body).filter((line) => !allowed.test(line))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});
