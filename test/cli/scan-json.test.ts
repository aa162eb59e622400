import { expect, test } from 'vitest';
import { scanJson } from '../../apps/cli/src/scan-json.ts';

test.each([
  ['{\n  "a": 1,\n}', 'line 3, column 1: there is a comma too many before it'],
  ['[1, 2,]', 'line 1, column 7: there is a comma too many before it'],
  ['{\n  "a": 1\n  "b": 2\n}', 'line 3, column 3: a comma or a closing bracket must follow'],
  ['{ // note\n}', 'line 1, column 3: comments are not allowed'],
  ["{'a': 1}", 'line 1, column 2: texts stand in double quotes'],
  ['{a: 1}', 'line 1, column 2: JSON has no such word, and texts stand in double quotes'],
  ['{"a" 1}', 'line 1, column 6: a colon must follow the key'],
  ['{"a": }', 'line 1, column 7: a value must follow'],
  ['{"a": [1, 2}', 'line 1, column 12: a comma or a closing bracket must follow'],
  ['{"a": 1', 'line 1, column 8: the file ends too early, a comma or } must follow'],
  ['{} x', 'line 1, column 4: JSON has no such word, and texts stand in double quotes'],
  ['{} {}', 'line 1, column 4: nothing may follow the end of the JSON'],
  ['{"a": 012}', 'line 1, column 8: a comma or a closing bracket must follow'],
  ['{"a": "one\ntwo"}', 'line 1, column 7: this text does not end on its line'],
  ['{"a": "C:\\dir"}', 'line 1, column 7: a \\ in a text is written \\\\'],
  ['', 'line 1, column 1: the file ends too early, a value must follow'],
])('finds where %j is no JSON', (text, fault) => {
  expect(() => JSON.parse(text)).toThrow();
  expect(scanJson(text).fault).toBe(fault);
});

test.each([
  '{}',
  '[]',
  ' {"a": [1, -2.5e+3, true, false, null, "\\u00e9\\n\\"", {"b": {}}], "c": ""} ',
  '"\u007f text"',
  '[[[]], [{}]]',
])('finds nothing wrong with %j', (text) => {
  expect(() => JSON.parse(text)).not.toThrow();
  expect(scanJson(text).fault).toBeUndefined();
});

test('knows the lines of the outermost keys alone', () => {
  const { lineOfKey } = scanJson('{\n"a": {"x": 1},\n\n"b\\u0063": [\n{"y": 2}],\n"d": 1}');
  expect([...lineOfKey]).toEqual([
    ['a', 2],
    ['bc', 4],
    ['d', 6],
  ]);
});

test.each([
  ['{"a": 1,\n"b": 2,\n"a": 3}', 'line 3: this key stands twice'],
  ['{"x": [{"a": 1, "\\u0061": 2}]}', 'line 1: this key stands twice'],
  ['{"a": {"b": 1}, "b": {"a": 1}}', undefined],
  [`${'['.repeat(100_000)}${']'.repeat(100_000)}`, undefined],
])('finds a key that stands twice in its object: %#', (text, fault) => {
  expect(() => JSON.parse(text)).not.toThrow();
  expect(scanJson(text).fault).toBe(fault);
});
