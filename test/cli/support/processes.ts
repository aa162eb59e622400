import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { exists } from '../../../apps/cli/src/local/process-identity.ts';

export const CLI = fileURLToPath(new URL('../../../apps/cli/bin/crewboard.js', import.meta.url));

/** Resolves when no process with this ID is left; such a process is no child of the test, so it is polled. */
export async function untilGone(pid: number): Promise<void> {
  await expect.poll(() => exists(pid), { timeout: 15_000, interval: 20 }).toBe(false);
}

/** Starts `file` with this Node; the process is killed when the test is over. */
export interface TestProcess extends AsyncDisposable {
  child: ChildProcess;
  /** The first line of stdout, parsed as JSON. Rejects with what stderr said when it ends without one. */
  ready: Promise<unknown>;
  stderr(): string;
  ended: Promise<number | string>;
}

export function startProcess(
  args: readonly string[],
  options: { cwd: string; env: Record<string, string> },
): TestProcess {
  const child = spawn(process.execPath, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = once(child, 'close').then(([code, signal]): number | string => signal ?? code);
  const lines = createInterface(child.stdout);
  const ready = Promise.race([
    once(lines, 'line').then(([line]): unknown => JSON.parse(String(line))),
    ended.then((how) => {
      throw new Error(`ended with ${how} before it was ready: ${stderr}`);
    }),
  ]);
  ready.catch(() => {});
  return {
    child,
    ready,
    ended,
    stderr: () => stderr,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
