import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startChild } from '../../apps/cli/src/local/child.ts';
import { openLogFile } from '../../apps/cli/src/local/log-file.ts';
import { exists } from '../../apps/cli/src/local/process-identity.ts';
import type { Running } from '../../apps/cli/src/local/running.ts';
import { type Service, supervise } from '../../apps/cli/src/local/supervise.ts';
import { openTestFolder, type TestFolder } from './support/folder.ts';
import { CLI, untilGone } from './support/processes.ts';

const GRACE = { graceMs: 10_000 };
const never = new AbortController().signal;

/** A real child of `up`: the embedded server, which starts fast. */
function childService(folder: TestFolder, args = ['embedded-redis']): Service {
  const log = openLogFile(join(folder.path, 'child.log'));
  return { name: 'child', start: (signal) => startChild({ name: 'child', file: CLI, args, log }, signal) };
}

/** Lines as they are reported, and a promise for the first that matches. */
function reports() {
  const lines: string[] = [];
  const waiting: { pattern: RegExp; found(line: string): void }[] = [];
  return {
    lines,
    report(line: string) {
      lines.push(line);
      for (const { pattern, found } of waiting) if (pattern.test(line)) found(line);
    },
    line: (pattern: RegExp) => new Promise<string>((found) => waiting.push({ pattern, found })),
  };
}

test('starts a killed child again and says so', async () => {
  await using folder = await openTestFolder();
  const { lines, report, line } = reports();
  const supervised = await supervise(childService(folder), { report, firstDelayMs: 10 }, never);
  const first = supervised.current().pid;
  const again = line(/runs again/);
  process.kill(first, 'SIGKILL');
  await again;
  const second = supervised.current().pid;
  expect(second).not.toBe(first);
  expect(exists(second)).toBe(true);
  expect(lines[0]).toBe('child ended (signal SIGKILL); starting it again in 10 ms');
  await supervised.stop(GRACE);
  await untilGone(second);
});

test('waits longer each time for a child that keeps dying, up to a bound', async () => {
  const { lines, report, line } = reports();
  const dead: Running = {
    pid: 1,
    ended: Promise.resolve({
      reason: 'exit code 7',
      lastLines: ['plain talk', '{"level":30,"msg":"tea"}', '{"level":50,"msg":"out of cheese"}'],
    }),
    stop: async () => {},
  };
  const fourth = line(/40 ms/);
  const supervised = await supervise(
    { name: 'it', start: async () => dead },
    { report, firstDelayMs: 10, maxDelayMs: 40 },
    never,
  );
  await fourth;
  await supervised.stop(GRACE);
  expect(lines.filter((text) => text.startsWith('it ended')).slice(0, 3)).toEqual([
    'it ended (exit code 7); starting it again in 10 ms',
    'it ended (exit code 7); starting it again in 20 ms',
    'it ended (exit code 7); starting it again in 40 ms',
  ]);
  const tails = new Set(lines.filter((text) => text.startsWith('  ')));
  expect([...tails]).toEqual(['  it: out of cheese']);
});

test('rejects the first start with what the child says', async () => {
  await using folder = await openTestFolder();
  const options = { report: () => {} };
  await expect(supervise(childService(folder, ['no-such-command']), options, never)).rejects.toThrow(
    /child did not start: exit code 2 .*unknown command 'no-such-command'/,
  );
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const address = taken.address();
  const port = String(typeof address === 'object' ? address?.port : address);
  await expect(
    supervise(childService(folder, ['embedded-redis', '--port', port]), options, never),
  ).rejects.toThrow(`child did not start: port ${port} is taken`);
  await new Promise((resolve) => taken.close(resolve));
});

test('gives up a start when it is aborted', async () => {
  await using folder = await openTestFolder();
  const abort = new AbortController();
  const start = supervise(childService(folder), { report: () => {} }, abort.signal);
  abort.abort();
  await expect(start).rejects.toThrow('interrupted');
});

test('kills a child that does not stop in time, at once when forced', async () => {
  await using folder = await openTestFolder();
  const supervised = await supervise(childService(folder), { report: () => {} }, never);
  const { pid, ended } = supervised.current();
  process.kill(pid, 'SIGSTOP');
  const force = new AbortController();
  const stopped = supervised.stop({ graceMs: 60_000, force: force.signal });
  force.abort();
  await stopped;
  expect(await ended).toMatchObject({ reason: 'signal SIGKILL' });
});
