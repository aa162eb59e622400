import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recordingChecklist, todo, todos } from './support.ts';

/** What the tool says of `input`, and whether it changed anything. */
async function refusal(input: unknown, options = {}): Promise<string> {
  const { updates, write } = recordingChecklist(options);
  const answer = await write(input);
  expect(answer.isError, JSON.stringify(input)).toBe(true);
  expect(updates).toEqual([]);
  return answer.content;
}

describe('a list that is accepted', () => {
  it('may be empty, and each of the three statuses is accepted [row 9] [row 10] [row 58] [row 104]', async () => {
    const { updates, write } = recordingChecklist();
    await write({ todos: [] });
    await write({ todos: [todo('a', 'pending')] });
    await write({ todos: [todo('a', 'in_progress')] });
    expect(await write({ todos: [todo('a', 'completed')] })).toEqual({
      content: 'Updated todo list: 0 pending, 0 in progress, 1 completed.',
    });
    expect(updates).toHaveLength(4);
  });

  it('replaces the old one whole: reordered, dropped and added in one call [row 11] [row 12] [row 64] [row 102]', async () => {
    const { updates, write } = recordingChecklist();
    await write({ todos: [todo('a'), todo('b'), todo('c')] });
    const next = [todo('c', 'in_progress'), todo('d'), todo('a', 'completed')];
    await write({ todos: next });
    expect(updates.at(-1)).toEqual(next);
  });

  it('is handed on once, whole and as sent, after the check [row 73] [row 86]', async () => {
    const { updates, write } = recordingChecklist();
    const list = [todo(' spaced '), todo('b', 'completed')];
    await write({ todos: list });
    expect(updates).toEqual([list]);
  });

  it('is answered with one line of counts, as short for many as for one [row 74] [row 96] [row 116]', async () => {
    const { write } = recordingChecklist();
    const list = [...todos(5), todo('x', 'in_progress'), todo('y', 'completed'), todo('z', 'completed')];
    const many = await write({ todos: list });
    expect(many.content).toBe('Updated todo list: 5 pending, 1 in progress, 2 completed.');
    const one = await write({ todos: [todo('x')] });
    expect(one.content.length).toBe(many.content.length);
    const zh = recordingChecklist({ locale: 'zh' });
    expect((await zh.write({ todos: list })).content).toBe(
      '待办已更新：5 项待处理，1 项进行中，2 项已完成。',
    );
  });
});

describe('the shape of a list', () => {
  it('is an array, sent as one [row 14] [row 27] [row 59] [row 72] [row 84]', async () => {
    expect(await refusal({ todos: '[{"content": "a", "status": "pending"}]' })).toBe(
      'todos must be an array, got a string: send an array ([] clears the list)',
    );
    expect(await refusal({ todos: {} })).toContain('todos must be an array, got an object');
    expect(await refusal({ todos: null })).toContain('todos must be an array, got null');
    expect(await refusal({ todos: 3 })).toContain('todos must be an array, got 3');
    for (const input of [undefined, null, 'x', 3, '[]', []]) {
      expect(await refusal(input)).toContain('send an array');
    }
  });

  it('is not cleared by a missing list, only by an empty one [row 87]', async () => {
    expect(await refusal({})).toBe('todos must be an array, got nothing: send an array ([] clears the list)');
    const { updates, write } = recordingChecklist();
    await write({ todos: [] });
    expect(updates).toEqual([[]]);
  });

  it('has objects for items, and names the one that is none [row 15] [row 59]', async () => {
    const first = todo('a');
    expect(await refusal({ todos: [first, null] })).toBe(
      'todos[1] must be an object with content and status, got null',
    );
    expect(await refusal({ todos: [first, first, 'x'] })).toContain('todos[2] must be an object');
    expect(await refusal({ todos: [[]] })).toContain('todos[0] must be an object');
  });

  it('has a content that is not empty [row 16] [row 59] [row 103] [row 113]', async () => {
    const text = 'todos[3].content must be a non-empty string';
    for (const content of ['', '   ', '\n\t', '\u200b', '\u2800', undefined, 7, null]) {
      expect(await refusal({ todos: [...todos(3), { content, status: 'pending' }] })).toBe(text);
    }
    expect(await refusal({ todos: [todo('x'.repeat(501))] })).toBe(
      'todos[0].content must be at most 500 characters',
    );
    expect(await refusal({ todos: [todo('\ud800')] })).toContain(
      'todos[0].content must not contain a lone surrogate',
    );
  });

  it('has one of three statuses in lower case [row 4] [row 10] [row 17] [row 60] [row 103]', async () => {
    const said = (got: string) =>
      `todos[0].status must be one of pending, in_progress, completed, got ${got}`;
    expect(await refusal({ todos: [{ content: 'a', status: 'PENDING' }] })).toBe(said('"PENDING"'));
    expect(await refusal({ todos: [{ content: 'a', status: 'done' }] })).toBe(said('"done"'));
    expect(await refusal({ todos: [{ content: 'a', status: 'failed' }] })).toBe(said('"failed"'));
    expect(await refusal({ todos: [{ content: 'a', status: 1 }] })).toBe(said('1'));
    expect(await refusal({ todos: [{ content: 'a' }] })).toBe(said('nothing'));
    const { updates, write } = recordingChecklist({ normalizeCase: true });
    await write({ todos: [{ content: 'a', status: ' In_Progress ' }] });
    expect(updates).toEqual([[todo('a', 'in_progress')]]);
  });

  it('has no other key, and no ids to remember [row 8] [row 105] [row 106]', async () => {
    for (const key of ['id', 'priority', 'children', 'thought', 'reasoning', 'activeForm']) {
      expect(await refusal({ todos: [{ ...todo('a'), [key]: 'x' }] })).toBe(
        `todos[0] has the unknown key "${key}": only content and status are allowed`,
      );
    }
    const sneaky: unknown = JSON.parse(
      '{"todos": [{"content": "a", "status": "pending", "__proto__": {"x": 1}}]}',
    );
    expect(await refusal(sneaky)).toContain('todos[0] has the unknown key "__proto__"');
    expect(await refusal({ todos: [], merge: true })).toContain('unknown key "merge"');
  });

  it('may have an activeForm in the classic profile only [row 76]', async () => {
    const { updates, write } = recordingChecklist({ profile: 'classic' });
    const list = [{ ...todo('Run the tests'), activeForm: 'Running the tests' }, todo('Rest')];
    await write({ todos: list });
    expect(updates).toEqual([list]);
    expect(await refusal({ todos: [{ ...todo('a'), activeForm: ' ' }] }, { profile: 'classic' })).toBe(
      'todos[0].activeForm must be a non-empty string',
    );
  });
});

describe('a whole list', () => {
  it('does not repeat a content after trimming; letter case makes a difference [row 114]', async () => {
    expect(await refusal({ todos: [...todos(3), todo('a'), todo(' a ')] })).toBe('todos[4] repeats "a"');
    const { updates, write } = recordingChecklist();
    await write({ todos: [todo('a'), todo('A')] });
    expect(updates).toHaveLength(1);
  });

  it('has at most one item in progress in serial mode [row 18] [row 61] [row 112]', async () => {
    const serial = { allowParallelInProgress: false };
    for (const count of [2, 3, 5]) {
      expect(await refusal({ todos: todos(count, 'in_progress') }, serial)).toBe(
        `at most one todo may be in_progress, got ${count}: finish or set back the others`,
      );
    }
    const { updates, write } = recordingChecklist(serial);
    await write({ todos: [todo('a', 'in_progress'), todo('b')] });
    expect(updates).toHaveLength(1);
  });

  it('may have several in progress where that is allowed [row 21] [row 81] [row 94] [row 95]', async () => {
    const { updates, write } = recordingChecklist({ allowParallelInProgress: true });
    await write({ todos: todos(5, 'in_progress') });
    expect(updates).toHaveLength(1);
  });

  it('keeps to the cap, 20 unless configured, and says how to [row 19] [row 22] [row 23] [row 62]', async () => {
    expect(await refusal({ todos: todos(34) })).toBe(
      'got 34 todos, the limit is 20: group them into milestones',
    );
    for (const [maxItems, options] of [
      [20, {}],
      [5, { maxItems: 5 }],
      [50, { maxItems: 50 }],
    ] as const) {
      const { updates, write } = recordingChecklist(options);
      await write({ todos: todos(maxItems) });
      expect(updates).toHaveLength(1);
      expect(await refusal({ todos: todos(maxItems + 1) }, options)).toContain(`the limit is ${maxItems}`);
    }
  });

  it('is taken whole or not at all, wherever the bad item stands [row 13] [row 63] [row 85]', async () => {
    const bad = fc.constantFrom<unknown>(
      null,
      {},
      { content: '', status: 'pending' },
      { content: 'x', status: 'X' },
    );
    await fc.assert(
      fc.asyncProperty(fc.nat(18), bad, async (position, item) => {
        const error = await refusal({
          todos: [...todos(18).slice(0, position), item, ...todos(18).slice(position)],
        });
        expect(error.startsWith(`todos[${position}]`)).toBe(true);
      }),
    );
  });

  it('never throws and never half-applies, whatever comes [row 25] [row 26]', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.anything(), fc.record({ todos: fc.anything() })), async (input) => {
        const { updates, write } = recordingChecklist();
        const answer = await write(input);
        expect(updates).toHaveLength(answer.isError === true ? 0 : 1);
      }),
      { numRuns: 500 },
    );
  });
});
