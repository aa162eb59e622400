import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { readAnswer } from '../../apps/cli/src/read-answer.ts';

test('reads the line that was given', async () => {
  const input = new PassThrough();
  const answer = readAnswer(input, new AbortController().signal);
  input.write('y\nmore\n');
  expect(await answer).toBe('y');
});

test('reads nothing at the end of the input, and when it is called off', async () => {
  const input = new PassThrough();
  const ended = readAnswer(input, new AbortController().signal);
  input.end();
  expect(await ended).toBeUndefined();
  const force = new AbortController();
  const calledOff = readAnswer(new PassThrough(), force.signal);
  force.abort();
  expect(await calledOff).toBeUndefined();
  expect(await readAnswer(new PassThrough(), force.signal)).toBeUndefined();
});
