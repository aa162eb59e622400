import { renderPlain } from '@crewboard/checklist';
import { CrewboardError, shownLine } from '@crewboard/contracts';
import { expect, test } from 'vitest';
import { age, duration, safeJson, safeLine, safeText, table } from '../../apps/cli/src/text.ts';

test('shows control and bidi characters instead of sending them to the terminal', () => {
  expect(safeText('\u001b[31mred\u0007 \u202egnirts \u200bhidden \u009b')).toBe(
    '\\u001b[31mred\\u0007 \\u202egnirts \\u200bhidden \\u009b',
  );
  expect(safeText('two\r\nlines\tand a tab, ünïcødé 漢字 🙂')).toBe('two\nlines\tand a tab, ünïcødé 漢字 🙂');
});

test('writes JSON without unsafe characters that reads back the same', () => {
  const value = { title: 'a\u202eb\u009bc\u0007d\u007f' };
  const text = safeJson(value);
  expect(text).toMatch(/^[\x20-\x7e]*$/);
  expect(JSON.parse(text)).toEqual(value);
});

test('cuts a line without splitting a character', () => {
  expect(safeLine('🙂🙂🙂🙂', 3)).toBe('🙂🙂…');
  expect(safeLine('one\n two\tthree')).toBe('one two three');
  expect(safeLine('x'.repeat(1_000_000), 5)).toBe('xxxx…');
});

test('aligns text to the left and numbers to the right', () => {
  expect(
    table([
      ['file', 'words'],
      ['a.md', 7],
      ['longer.md', 1234],
    ]),
  ).toBe('file       words\na.md           7\nlonger.md   1234');
});

test('tells an age by its largest unit', () => {
  const hours = (count: number) => count * 3_600_000;
  expect([-5, 12_300, 185_000, hours(2.9), hours(47), hours(49)].map(age)).toEqual([
    '0 s',
    '12 s',
    '3 min',
    '2 h',
    '47 h',
    '2 d',
  ]);
});

test('tells durations as people do', () => {
  expect([850, 12_300, 185_000, 7_800_000].map(duration)).toEqual([
    '850 ms',
    '12 s',
    '3 min 5 s',
    '2 h 10 min',
  ]);
});

test('shows a character alike in a message, on a board, in a checklist and in JSON', () => {
  const text = 'a\u001b\u202e\u0007\u{e0041}';
  const shown = 'a\\u001b\\u202e\\u0007\\udb40\\udc41';
  expect(safeText(text)).toBe(shown);
  expect(safeJson(text)).toBe(`"${shown}"`);
  expect(shownLine(text, 80)).toBe(shown);
  expect(new CrewboardError('not_found', text).detail).toBe(shown);
  expect(renderPlain([{ content: 'a\u001b\u202e\u0007', activeForm: 'b', status: 'pending' }])).toContain(
    'a\\u001b\\u202e\\u0007',
  );
});

test('leaves the characters that a text is written with as they are', () => {
  expect(safeText('👩‍💻 می‌خواهم')).toBe('👩‍💻 می‌خواهم');
});
