import { readFile } from 'node:fs/promises';
import { z } from 'zod';

/** A process that was running at some time: its ID, and where the system tells, when it began. */
export const ProcessIdentity = z.strictObject({
  pid: z.number().int().positive(),
  began: z.string().optional(),
});
export type ProcessIdentity = z.infer<typeof ProcessIdentity>;

const ENDED = 'Z';

/**
 * Its state and when it began, in clock ticks since boot (Linux); undefined where the system doesn't say. A process
 * that has ended may still be listed (`Z`), until its parent has asked how.
 */
async function lookAt(pid: number): Promise<{ state: string | undefined; began: string | undefined }> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  // The second field is the program's name in brackets and may hold spaces; fields 3 and 22 count from after it.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state: fields?.[0], began: fields?.[19] };
}

/** Returns the identity of `pid` (default: this process). */
export async function identify(pid: number = process.pid): Promise<ProcessIdentity> {
  const { began } = await lookAt(pid);
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
  const { state, began } = await lookAt(identity.pid);
  if (state === ENDED) return false;
  return identity.began === undefined || began === undefined || began === identity.began;
}
