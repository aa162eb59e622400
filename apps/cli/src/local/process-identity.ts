import { readFile } from 'node:fs/promises';
import { z } from 'zod';

/** A process that was running at some time: its ID, and where the system tells, when it began. */
export const ProcessIdentity = z.strictObject({
  pid: z.number().int().positive(),
  began: z.string().optional(),
});
export type ProcessIdentity = z.infer<typeof ProcessIdentity>;

/** When the process began, in clock ticks since boot (Linux), or undefined where the system doesn't say. */
async function beginOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  // The second field is the program's name in brackets and may hold spaces; field 22 counts from after it.
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
}

/** Returns the identity of `pid` (default: this process). */
export async function identify(pid: number = process.pid): Promise<ProcessIdentity> {
  const began = await beginOf(pid);
  return began === undefined ? { pid } : { pid, began };
}

/** True when a process with `pid` exists, whoever owns it. */
export function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** True when that very process still runs: a reused process ID doesn't count, where the system lets us tell. */
export async function isRunning(identity: ProcessIdentity): Promise<boolean> {
  if (!exists(identity.pid)) return false;
  if (identity.began === undefined) return true;
  const began = await beginOf(identity.pid);
  return began === undefined || began === identity.began;
}
