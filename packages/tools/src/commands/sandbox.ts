import type { ChildProcess } from 'node:child_process';
import { lstat, readlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { CrewboardError } from '@crewboard/contracts';
import { isInside } from '../paths.ts';
import { commandEnvironment, shellArguments } from './command-environment.ts';
import { findMasked, type Masked } from './masks.ts';
import type { Launched } from './run-launched.ts';
import { followStatus, untilGone } from './sandbox-status.ts';
import { notStarted, send, startProcess } from './start-process.ts';

/** What a sandbox shows of the machine, read-only. All else of it, home folders too, is not there. */
const SYSTEM_FOLDERS = ['usr', 'bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32', 'etc', 'opt', 'nix', 'snap'];

/** Bytes of the private /tmp, and of /dev/shm: both are memory. */
const TMP_BYTES = 1024 ** 3;
const SHM_BYTES = 256 * 1024 ** 2;

const ARGUMENTS_FD = 3;
const STATUS_FD = 4;

const HOME = '/tmp/home';

async function systemArguments(): Promise<string[]> {
  const found = await Promise.all(
    SYSTEM_FOLDERS.map(async (name) => {
      const path = `/${name}`;
      const stats = await lstat(path).catch(() => undefined);
      if (stats?.isSymbolicLink()) return ['--symlink', await readlink(path), path];
      return stats?.isDirectory() ? ['--ro-bind', path, path] : [];
    }),
  );
  return found.flat();
}

function isSystemPath(path: string): boolean {
  return SYSTEM_FOLDERS.some((name) => isInside(`/${name}`, path));
}

/** Node's own folder when it stands elsewhere, such as below a home: commands may run node and npx. */
function nodeArguments(): string[] {
  const folder = dirname(dirname(process.execPath));
  return isSystemPath(folder) || folder === '/' ? [] : ['--ro-bind', folder, folder];
}

function maskArguments({ path, isFolder }: Masked): (string | Buffer)[] {
  if (!isFolder) return ['--ro-bind', '/dev/null', path];
  return ['--tmpfs', path, '--remount-ro', path];
}

/** Bubblewrap's arguments, each ended by NUL as it reads them from a file. Later ones lie over earlier ones. */
async function sandboxArguments(workspaceRoot: string, masked: readonly Masked[]): Promise<Buffer> {
  const args: (string | Buffer)[] = [
    // No rights, and no namespace of its own in which a command would have some again.
    ...['--unshare-all', '--unshare-user', '--disable-userns', '--cap-drop', 'ALL'],
    ...['--die-with-parent', '--new-session'],
    ...(await systemArguments()),
    // Of /proc, too: root needs no rights of its own to set the kernel's switches in it, which hold for all.
    ...['--proc', '/proc', '--remount-ro', '/proc', '--dev', '/dev'],
    ...['--size', String(SHM_BYTES), '--tmpfs', '/dev/shm', '--remount-ro', '/dev'],
    ...['--size', String(TMP_BYTES), '--tmpfs', '/tmp', '--dir', HOME, '--symlink', '../tmp', '/var/tmp'],
    ...nodeArguments(),
    ...['--bind', workspaceRoot, workspaceRoot],
    ...masked.flatMap(maskArguments),
    ...['--remount-ro', '/', '--chdir', workspaceRoot],
  ];
  return Buffer.concat(args.flatMap((arg) => [Buffer.from(arg), Buffer.of(0)]));
}

/** Gives bubblewrap its arguments. */
function hand(child: ChildProcess, args: Buffer): void {
  const pipe = child.stdio[ARGUMENTS_FD];
  if (!(pipe instanceof Writable)) throw new Error('the pipe for arguments is not there');
  // A bubblewrap that ended early says why on its error output.
  pipe.on('error', () => {});
  pipe.end(args);
}

/**
 * Starts a command in a sandbox of its own (bubblewrap): the workspace writable without what is denied, the system
 * read-only, nothing else of the machine, no network. Throws `unavailable`.
 */
export async function launchInSandbox(
  command: string,
  options: { workspaceRoot: string; deniedPaths: readonly string[] },
  signal: AbortSignal,
): Promise<Launched> {
  const { workspaceRoot } = options;
  const masked = await findMasked(options, isSystemPath, signal);
  const args = await sandboxArguments(workspaceRoot, masked);
  const child = await startProcess(
    [
      ...(['bwrap', '--args', String(ARGUMENTS_FD), '--json-status-fd', String(STATUS_FD), '--'] as const),
      ...shellArguments(command),
    ],
    {
      cwd: '/',
      env: commandEnvironment(HOME, '/tmp'),
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
    },
  );
  const statusPipe = child.stdio[STATUS_FD];
  const status = followStatus(statusPipe instanceof Readable ? statusPipe : null, child.stderr);
  hand(child, args);
  return {
    child,
    // Bubblewrap itself must live on: with it, all in the sandbox would be killed at once.
    askToEnd() {
      const firstPid = status.firstPid();
      if (firstPid !== undefined) send(-firstPid, 'SIGTERM');
    },
    // The end of bubblewrap ends the first process of the sandbox, and with that one the kernel ends all others.
    async kill() {
      child.kill('SIGKILL');
      await untilGone(status.firstPid());
    },
    explain() {
      const exitCode = status.exitCode();
      if (exitCode === undefined) throw notStarted(`the sandbox ended early: ${status.complaint()}`);
      return { exitCode, signal: null };
    },
    async dispose() {},
  };
}

/**
 * Throws `invalid_argument` for a workspace that holds system folders (commands could change the system) or that lies
 * in a denied folder.
 */
export function mustBeConfinable(workspaceRoot: string, deniedPaths: readonly string[]): void {
  const holdsSystem = SYSTEM_FOLDERS.some((name) => isInside(workspaceRoot, `/${name}`));
  if (!holdsSystem && !deniedPaths.some((path) => isInside(path, workspaceRoot))) return;
  throw new CrewboardError(
    'invalid_argument',
    `Commands can't be confined to the workspace ${workspaceRoot}. Choose a folder of its own for the job.`,
  );
}
