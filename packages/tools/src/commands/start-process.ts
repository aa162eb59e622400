import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { CrewboardError } from '@crewboard/contracts';

/** The refusal of a command that was not run; `reason` says why, without a full stop. */
export function notStarted(reason: string, cause?: unknown): CrewboardError {
  return new CrewboardError('unavailable', `The command could not be started: ${reason}.`, {}, { cause });
}

/** Starts a process in a group of its own. Throws `unavailable` when the system does not. */
export async function startProcess(
  [file, ...args]: readonly [string, ...string[]],
  options: SpawnOptions,
): Promise<ChildProcess> {
  try {
    const child = spawn(file, args, { ...options, detached: true });
    await once(child, 'spawn');
    // Told of a signal that could not be sent: what does not end is waited for no longer than a bound.
    child.on('error', () => {});
    return child;
  } catch (error) {
    throw notStarted(error instanceof Error ? error.message : String(error), error);
  }
}

/** Sends a signal to a process (or, negative, to a group) that may be gone. */
export function send(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(pid, signal);
  } catch {
    // Gone already, or not ours any more: nothing to end.
  }
}
