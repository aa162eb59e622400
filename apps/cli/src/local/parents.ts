import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** What a process table tells of a process. */
export interface ProcessEntry {
  parent: number;
  /** Its command line, arguments parted by spaces; npm writes its own command there. */
  command: string;
}

const PS_WITHIN_MS = 2000;

async function readProc(pid: number): Promise<ProcessEntry> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ').trim();
  return { parent: Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]), command };
}

async function askPs(pid: number): Promise<ProcessEntry> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'ppid=,command=', '-p', String(pid)], {
    timeout: PS_WITHIN_MS,
  });
  const [, parent = '', command = ''] = /^\s*(\d+)\s+(.*?)\s*$/s.exec(stdout) ?? [];
  return { parent: Number(parent), command };
}

/** Returns what the system tells of `pid`; undefined when it is gone or the system doesn't say. */
export async function readProcess(pid: number): Promise<ProcessEntry | undefined> {
  return readProc(pid).catch(() => askPs(pid).catch(() => undefined));
}

/** True for a script that leaves what it starts running on purpose. */
function leavesBehind(script: string): boolean {
  return /(?:^|[^&>])&(?![&>])|\b(?:nohup|setsid|disown)\b/.test(script);
}

const isNpm = (command: string) =>
  /(?:^|[/\\])(?:npm|npx|pnpm|yarn)(?:-cli)?(?:\.c?js)?(?:\s|$)/.test(command);

/**
 * Returns the processes that stand for the npm (npx, pnpm, yarn) that runs `script` and waits for this process,
 * whose parent is `parent`: npm and, where there is one, its shell. None when anybody else started it, such as a
 * person's shell somewhere below npm, or when the script puts it into the background: it may then outlive them.
 */
export async function npmAbove(
  script: string | undefined,
  parent: number,
  read: (pid: number) => Promise<ProcessEntry | undefined> = readProcess,
): Promise<number[]> {
  if (script === undefined || leavesBehind(script)) return [];
  const above = await read(parent);
  if (above === undefined) return [];
  if (isNpm(above.command)) return [parent];
  if (!above.command.includes(` -c ${script}`)) return [];
  return isNpm((await read(above.parent))?.command ?? '') ? [parent, above.parent] : [];
}
