import { describe, expect, it } from 'vitest';
import {
  renderFolded,
  renderOutline,
  renderPlain,
  renderTerminal,
  type Todo,
} from '../../packages/checklist/src/index.ts';
import { recordingChecklist, todo, todos } from './support.ts';

const LIST: readonly Todo[] = [
  todo('Read the code', 'completed'),
  todo('Find the fault', 'completed'),
  { content: 'Mend it', status: 'in_progress', activeForm: 'Mending it' },
  todo('Test it'),
  todo('Tell'),
];

describe('panels', () => {
  it('mark items in plain text under the count of done ones [row 29] [row 30]', () => {
    expect(renderPlain(LIST)).toBe(
      [
        'Todos (2/5 completed)',
        '[x] Read the code',
        '[x] Find the fault',
        '[>] Mend it',
        '[ ] Test it',
        '[ ] Tell',
      ].join('\n'),
    );
    expect(renderPlain([todo('a', 'completed'), todo('b')])).toContain('(1/2 completed)');
    expect(renderPlain([])).toBe('Todos (0/0 completed)');
  });

  it('use colours in a terminal, and activeForm while in progress, else content [row 78] [row 79]', () => {
    expect(renderTerminal(LIST, { colours: true, locale: 'zh' })).toBe(
      [
        '待办（2/5 完成）',
        '\u001b[32m☑\u001b[0m Read the code',
        '\u001b[32m☑\u001b[0m Find the fault',
        '\u001b[33m▶\u001b[0m Mending it',
        '\u001b[90m☐\u001b[0m Test it',
        '\u001b[90m☐\u001b[0m Tell',
      ].join('\n'),
    );
    expect(renderTerminal([todo('a', 'in_progress')], { colours: false })).toBe('Todos (0/1 completed)\n▶ a');
  });

  it('fold to counts without the zero ones, and unfold to dots [row 99]', () => {
    expect(renderFolded(LIST)).toBe('2 done, 1 active, 2 pending');
    expect(renderFolded([todo('a')])).toBe('1 pending');
    expect(renderFolded([])).toBe('no todos');
    expect(renderOutline([todo('a', 'completed'), todo('b')])).toBe('1 done, 1 pending\n• a\n• b');
  });

  it('only read: the same from frozen state, twice, in every form [row 5] [row 28] [row 31] [row 82]', () => {
    const frozen = Object.freeze(LIST.map((item) => Object.freeze({ ...item })));
    const forms = [
      renderPlain,
      renderOutline,
      renderFolded,
      (list: readonly Todo[]) => renderTerminal(list, { colours: true }),
    ];
    for (const render of forms) expect(render(frozen)).toBe(render(frozen));
    expect(frozen).toEqual(LIST);
  });

  it('that show fewer items say so and leave the list whole [row 32] [row 68]', async () => {
    const { updates, write } = recordingChecklist();
    const list = todos(20);
    await write({ todos: list });
    const panel = renderPlain(updates.at(-1) ?? [], { maxItems: 2 });
    expect(panel).toBe('Todos (0/20 completed)\n[ ] item 0\n[ ] item 1\n... and 18 more');
    expect(renderPlain(list, { maxItems: 2, locale: 'zh' })).toContain('… 还有 18 项');
    expect(updates.at(-1)).toEqual(list);
    expect((await write({ todos: [...list, todo('one more')] })).content).toContain('got 21 todos');
  });

  it('show none for less than none, and all for what is no number', () => {
    const list = todos(3);
    const header = 'Todos (0/3 completed)';
    for (const maxItems of [0, -1, Number.NEGATIVE_INFINITY]) {
      expect(renderPlain(list, { maxItems })).toBe(`${header}\n... and 3 more`);
      expect(renderTerminal(list, { maxItems, colours: false })).toBe(`${header}\n... and 3 more`);
    }
    for (const maxItems of [Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(renderPlain(list, { maxItems })).toBe(renderPlain(list));
    }
    expect(renderPlain(list, { maxItems: 1.5 })).toBe(`${header}\n[ ] item 0\n... and 2 more`);
  });

  it('show control and bidi characters instead of obeying them', () => {
    const evil = todo('a\u001b[2Jb\nc\u202ed');
    for (const panel of [
      renderPlain([evil]),
      renderTerminal([evil], { colours: false }),
      renderOutline([evil]),
    ]) {
      expect(panel).toContain('a\\u001b[2Jb\\u000ac\\u202ed');
    }
  });
});
