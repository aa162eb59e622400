import { textColumns } from '@crewboard/contracts';
import { expect, test } from 'vitest';
import { wrapText } from '../../apps/cli/src/wrap.ts';

test('breaks long lines between words and keeps their indentation', () => {
  expect(wrapText('  one two three four\nshort', 12)).toBe('  one two\n  three four\nshort');
});

test('keeps a command in backticks whole, so that it can be copied', () => {
  const text = 'Run again: `crewboard rerun job_1 --status failed`.';
  expect(wrapText(`${text} Now`, 45)).toBe('Run again:\n`crewboard rerun job_1 --status failed`. Now');
  expect(wrapText(`${text} Now`, 20)).toBe('Run again:\n`crewboard rerun job_1 --status failed`.\nNow');
});

test('breaks what stands between backticks in a text that is no command of ours', () => {
  expect(wrapText('it`s a quote, and it`s long', 14)).toBe('it`s a quote,\nand it`s long');
  expect(wrapText('`aaaa bbbb cccc`', 10)).toBe('`aaaa bbbb\ncccc`');
  expect(wrapText(`\`${'x'.repeat(12)}`, 10)).toBe('`xxxxxxxxx\nxxx');
});

test('breaks a word only where no line holds it, and counts wide characters twice', () => {
  expect(wrapText('a abcdefghij b', 4)).toBe('a\nabcd\nefgh\nij b');
  expect(wrapText('漢字漢字', 5)).toBe('漢字\n漢字');
  for (const letter of ['x', 'ü']) {
    const lines = wrapText(`${letter.repeat(50_000)} end`, 79).split('\n');
    expect(Math.max(...lines.map(textColumns))).toBe(79);
  }
});

test('leaves a text as it is in a pipe, and where it fits', () => {
  const text = `${'word '.repeat(100)}end`;
  expect(wrapText(text, undefined)).toBe(text);
  expect(wrapText('a  b\n\n c', 10)).toBe('a  b\n\n c');
});
