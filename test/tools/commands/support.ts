import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type CommandBounds, type CommandEnd, createCommandRunner } from '@crewboard/tools';

/** Tests of the real bubblewrap are shown as skipped where it is not installed. */
export const HAS_BUBBLEWRAP = spawnSync('bwrap', ['--version']).status === 0;

export interface CommandWorkspace extends AsyncDisposable {
  root: string;
  /** A folder beside the workspace, with `secret.txt` in it. */
  outside: string;
  run(command: string, options?: { timeoutMs?: number; signal?: AbortSignal }): Promise<CommandEnd>;
}

/** Makes a workspace of `files` (path to content) in which commands run; `data` in it is the denied data folder. */
export async function makeCommandWorkspace(
  mode: 'sandbox' | 'host',
  files: Record<string, string> = {},
  options: { name?: string; bounds?: Partial<CommandBounds> } = {},
): Promise<CommandWorkspace> {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'crewboard-commands-')));
  const root = join(home, options.name ?? 'ws');
  const outside = join(home, 'outside');
  await mkdir(root);
  await mkdir(outside);
  await writeFile(join(outside, 'secret.txt'), 'SECRET');
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
  const bounds = { graceMs: 300, ...options.bounds };
  const run = createCommandRunner({ mode, workspaceRoot: root, deniedPaths: [join(root, 'data')], bounds });
  return {
    root,
    outside,
    run: (command, { timeoutMs = 30_000, signal = new AbortController().signal } = {}) =>
      run(command, { timeoutMs, signal }),
    [Symbol.asyncDispose]: () => rm(home, { recursive: true, force: true }),
  };
}

/** The processes of this machine that run just `words`: not the shells in whose command these stand. */
export async function processesOf(words: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(
    pids.map(async (pid) => {
      const line = await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '');
      return line.replaceAll('\0', ' ').trimEnd() === words ? pid : undefined;
    }),
  );
  return found.filter((pid) => pid !== undefined);
}

/** A sleep that no other test has, so that its process can be found. */
export function uniqueSleep(): string {
  return `sleep 3${Math.floor(Math.random() * 1e9)}`;
}
