import { expect, test } from 'vitest';
import { fromHere, isEverywhere } from '../../apps/cli/src/local/address.ts';

test.each([
  ['http://0.0.0.0:7420', 'http://127.0.0.1:7420'],
  ['http://[::]:7420', 'http://[::1]:7420'],
  ['http://127.0.0.1:7420', 'http://127.0.0.1:7420'],
  ['http://board.example:80', 'http://board.example:80'],
])('reaches %s from this machine as %s', (url, expected) => {
  expect(fromHere(url)).toBe(expected);
});

test('knows the addresses of all interfaces', () => {
  expect(['0.0.0.0', '::', '127.0.0.1', 'constructor'].map(isEverywhere)).toEqual([true, true, false, false]);
});
