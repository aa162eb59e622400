import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, readlink, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@crewboard/client';
import { expect } from 'vitest';
import { readConfig } from '../../../apps/cli/src/config.ts';
import { CLI } from '../../cli/support/processes.ts';

const STOPS_WITHIN_MS = 20_000;

/** A machine for `up`: a folder of its own, by which all its processes are known, with or without a Redis on PATH. */
export interface Machine extends AsyncDisposable {
  dataDir: string;
  up(...args: string[]): UpProcess;
  /** Every process that `up` has started here and that is still there, by its command line. */
  processes(): Promise<string[]>;
  untilEmpty(): Promise<void>;
  /** Resolves when what watches over the Redis of an `up` that was killed has done its work. */
  untilOver(up: UpProcess): Promise<void>;
}

/** One `crewboard up` as a child process. */
export interface UpProcess {
  pid: number;
  /** Resolves when `text` has been said on stderr; rejects when it ends before that. */
  said(text: string): Promise<void>;
  stdout(): string;
  stderr(): string;
  /** A client with the key of the data folder, at the address that it said. */
  client(): Promise<Client>;
  /** Sends the signal and resolves with the exit code, or the signal's name. */
  end(signal: 'SIGINT' | 'SIGKILL'): Promise<number | string>;
}

/** The working folder tells whose a process is: Redis writes over its own environment and command line. */
async function commandOf(pid: string, root: string): Promise<{ pid: number; command: string }[]> {
  try {
    const folder = await readlink(`/proc/${pid}/cwd`);
    if (folder !== root && !folder.startsWith(`${root}/`)) return [];
    const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ').trim();
    return [{ pid: Number(pid), command }];
  } catch {
    // It ended meanwhile, or is not ours to look at.
    return [];
  }
}

async function processesIn(root: string) {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  return (await Promise.all(pids.map((pid) => commandOf(pid, root)))).flat();
}

function startUp(dataDir: string, cwd: string, path: string, args: readonly string[]): UpProcess {
  const child = spawn(process.execPath, [CLI, 'up', '--port', '0', ...args], {
    cwd,
    env: { PATH: path, CREWBOARD_DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = once(child, 'close').then(([code, signal]) => (signal ?? code) as number | string);
  return {
    pid: child.pid ?? 0,
    stdout: () => stdout,
    stderr: () => stderr,
    async said(text) {
      const over = ended.then((how) => {
        if (!stderr.includes(text))
          throw new Error(`up ended with ${how} before it said "${text}":\n${stderr}`);
      });
      while (!stderr.includes(text)) await Promise.race([once(child.stderr, 'data'), over]);
    },
    async client() {
      const [, url] = /API +(http\S+)\/v1/.exec(stderr) ?? [];
      if (url === undefined) throw new Error(`up has not said where its API is:\n${stderr}`);
      const apiKey = (await readFile(join(dataDir, 'api-key'), 'utf8')).trim();
      return createClient({ baseUrl: url, apiKey });
    },
    async end(signal) {
      child.kill(signal);
      return ended;
    },
  };
}

/** Makes a machine with or without a Redis on its PATH; disposing kills what is left and removes the folder. */
export async function openMachine({ hasRedis }: { hasRedis: boolean }): Promise<Machine> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'crewboard-up-')));
  const empty = join(root, 'bin');
  await mkdir(empty);
  const path = hasRedis ? (readConfig().childVariables.PATH ?? '') : empty;
  const dataDir = join(root, 'data');
  const started: UpProcess[] = [];
  const processes = async () => (await processesIn(root)).map(({ command }) => command).sort();
  return {
    dataDir,
    up(...args) {
      const up = startUp(dataDir, root, path, args);
      started.push(up);
      return up;
    },
    processes,
    untilEmpty: () => expect.poll(processes, { timeout: STOPS_WITHIN_MS, interval: 50 }).toEqual([]),
    async untilOver({ pid }) {
      const left = async () =>
        (await processes()).filter((command) => command.includes('/keeper ') && command.endsWith(` ${pid}`));
      await expect.poll(left, { timeout: STOPS_WITHIN_MS, interval: 50 }).toEqual([]);
    },
    async [Symbol.asyncDispose]() {
      for (const up of started) await up.end('SIGKILL');
      for (const { pid } of await processesIn(root)) process.kill(pid, 'SIGKILL');
      await rm(root, { recursive: true, force: true });
    },
  };
}
