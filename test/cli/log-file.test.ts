import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openLogFile, readableLogLine } from '../../apps/cli/src/local/log-file.ts';
import { openTestFolder } from './support/folder.ts';

const text = (path: string) => readFileSync(path, 'utf8');

test('starts a new file at each start and keeps the one before', async () => {
  await using folder = await openTestFolder();
  const path = join(folder.path, 'api.log');
  for (const line of ['first\n', 'second\n', 'third\n']) {
    const log = openLogFile(path);
    log.write(Buffer.from(line));
    log.close();
  }
  expect([text(path), text(`${path}.1`)]).toEqual(['third\n', 'second\n']);
});

test('never lets a file grow beyond its bound', async () => {
  await using folder = await openTestFolder();
  const path = join(folder.path, 'api.log');
  const log = openLogFile(path, 10);
  for (const line of ['aaaa\n', 'bbbb\n', 'cccc\n']) log.write(Buffer.from(line));
  log.close();
  expect([text(path), text(`${path}.1`)]).toEqual(['cccc\n', 'aaaa\nbbbb\n']);
});

test('remembers the last 20 lines, also one without an end, across chunks', async () => {
  await using folder = await openTestFolder();
  const log = openLogFile(join(folder.path, 'api.log'));
  for (let n = 1; n <= 30; n++) log.write(Buffer.from(`line ${n}\n`));
  log.write(Buffer.from('cut '));
  log.write(Buffer.from('short'));
  log.close();
  expect(log.lastLines().slice(-2)).toEqual(['line 30', 'cut short']);
  expect(log.lastLines()).toHaveLength(21);
});

test('remembers of structured entries only warnings and errors', async () => {
  await using folder = await openTestFolder();
  const log = openLogFile(join(folder.path, 'api.log'));
  for (const level of [30, 40, 50]) log.write(Buffer.from(`{"level":${level},"msg":"m"}\n`));
  log.close();
  expect(log.lastLines()).toEqual(['{"level":40,"msg":"m"}', '{"level":50,"msg":"m"}']);
});

test('shows structured entries by message and error, and never a control character', () => {
  expect(readableLogLine('{"level":50,"msg":"no\\u001b[2J","err":{"message":"out of cheese"}}')).toBe(
    'no\\u001b[2J: out of cheese',
  );
  expect(readableLogLine('{"level":30}')).toBe('{"level":30}');
  expect(readableLogLine('plain\u0007 text')).toBe('plain\\u0007 text');
});
