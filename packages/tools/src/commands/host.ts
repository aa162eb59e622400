import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandEnvironment, shellArguments } from './command-environment.ts';
import type { Launched } from './run-launched.ts';
import { notStarted, send, startProcess } from './start-process.ts';

/** Passes over the process table until none of a command is found; each finds those that the last one missed. */
const PASSES_MOST = 20;

/** The processes of which the environment names `tempDir`, a folder that only one command was given. */
async function processesWith(tempDir: string): Promise<number[]> {
  const names = await readdir('/proc').catch(() => []);
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(
    pids.map(async (pid) => {
      const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
      return environment.split('\0').includes(`TMPDIR=${tempDir}`) ? pid : undefined;
    }),
  );
  return found.filter((pid) => pid !== undefined);
}

/** Ends what left the group of the command, such as a daemon, by the environment that it was born with. */
async function killByEnvironment(tempDir: string): Promise<void> {
  for (let pass = 0; pass < PASSES_MOST; pass++) {
    const pids = await processesWith(tempDir);
    if (pids.length === 0) return;
    for (const pid of pids) send(pid, 'SIGKILL');
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
