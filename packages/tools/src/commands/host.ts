import { mkdir, mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { commandEnvironment, shellArguments } from './command-environment.ts';
import type { Launched } from './run-launched.ts';
import { notStarted, send, startProcess } from './start-process.ts';

/** Passes over the process table; each finds those that the last one missed. */
const PASSES_MOST = 50;
const PASS_PAUSE_MS = 10;
/** Passes in a row that find nothing: one alone may have missed a process that was made while it looked. */
const QUIET_PASSES = 3;
/** So often a process may show no environment until it counts as one that has none. */
const DOUBTS_MOST = 10;

type Kin = 'ours' | 'foreign' | 'in doubt';

/**
 * Whether a process was born with `tempDir`, a folder that only one command was given, in its environment. One that is
 * just being turned into another program shows none for that moment.
 */
async function kinOf(pid: number, tempDir: string): Promise<Kin> {
  const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => undefined);
  if (environment === undefined) return 'foreign';
  if (environment !== '') return environment.split('\0').includes(`TMPDIR=${tempDir}`) ? 'ours' : 'foreign';
  // Without a program: a part of the kernel, or a process that has ended.
  return await readlink(`/proc/${pid}/exe`).then(
    () => 'in doubt',
    () => 'foreign',
  );
}

async function processIds(): Promise<number[]> {
  const names = await readdir('/proc').catch(() => []);
  return names.filter((name) => /^\d+$/.test(name)).map(Number);
}

/** Ends what left the group of the command, such as a daemon, by the environment that it was born with. */
async function killByEnvironment(tempDir: string): Promise<void> {
  const doubts = new Map<number, number>();
  let quiet = 0;
  for (let pass = 0; pass < PASSES_MOST; pass++) {
    let isQuiet = true;
    await Promise.all(
      (await processIds()).map(async (pid) => {
        const kin = await kinOf(pid, tempDir);
        if (kin === 'ours') send(pid, 'SIGKILL');
        if (kin === 'in doubt') doubts.set(pid, (doubts.get(pid) ?? 0) + 1);
        if (kin === 'ours' || (kin === 'in doubt' && (doubts.get(pid) ?? 0) <= DOUBTS_MOST)) isQuiet = false;
      }),
    );
    quiet = isQuiet ? quiet + 1 : 0;
    if (quiet === QUIET_PASSES) return;
    await delay(PASS_PAUSE_MS);
  }
}

/** Makes the folder that is a command's home and place for temporary files. */
async function makeOwnFolder(): Promise<{ tempDir: string; homeDir: string }> {
  try {
    const tempDir = await mkdtemp(join(tmpdir(), 'crewboard-command-'));
    const homeDir = join(tempDir, 'home');
    await mkdir(homeDir);
    return { tempDir, homeDir };
  } catch (error) {
    throw notStarted('no folder for its temporary files could be made', error);
  }
}

/**
 * Starts a command as a process like any other: with a clean environment, but with everything that this process may
 * read, write and reach. Throws `unavailable`.
 */
export async function launchOnHost(command: string, options: { workspaceRoot: string }): Promise<Launched> {
  const { tempDir, homeDir } = await makeOwnFolder();
  const dispose = () => rm(tempDir, { recursive: true, force: true }).catch(() => {});
  try {
    const child = await startProcess(shellArguments(command), {
      cwd: options.workspaceRoot,
      env: commandEnvironment(homeDir, tempDir),
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const group = child.pid === undefined ? undefined : -child.pid;
    return {
      child,
      askToEnd: () => send(group, 'SIGTERM'),
      async kill() {
        send(group, 'SIGKILL');
        await killByEnvironment(tempDir);
      },
      explain: ({ code, signal }) => ({ exitCode: code, signal }),
      dispose,
    };
  } catch (error) {
    await dispose();
    throw error;
  }
}
