import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { CrewboardError } from '@crewboard/contracts';
import { inheritedDescriptors } from './inherited-descriptors.ts';

/** The refusal of a command that was not run; `reason` says why, without a full stop. */
export function notStarted(reason: string, cause?: unknown): CrewboardError {
  return new CrewboardError('unavailable', `The command could not be started: ${reason}.`, {}, { cause });
}

/** How a process is started; `stdio` has all descriptors that it gets. */
export interface StartOptions {
  cwd: string;
  env: Record<string, string>;
  stdio: readonly ('ignore' | 'pipe')[];
}

/** Starts a process with `nothing`, a descriptor of an empty file, in the place of each that it would inherit. */
function spawnAlone(file: string, args: string[], { stdio, ...options }: StartOptions): ChildProcess {
  const nothing = openSync('/dev/null', 'r');
  try {
    const all: Exclude<StdioOptions, string> = [...stdio];
    for (const descriptor of inheritedDescriptors()) {
      while (all.length <= descriptor) all.push('ignore');
      if (descriptor >= stdio.length) all[descriptor] = nothing;
    }
    return spawn(file, args, { ...options, stdio: all, detached: true });
  } finally {
    closeSync(nothing);
  }
}

/**
 * Starts a process in a group of its own. It gets no file that was open when this process was started, by a shell or a
 * service manager. Throws `unavailable` when the system does not start it.
 */
export async function startProcess(
  [file, ...args]: readonly [string, ...string[]],
  options: StartOptions,
): Promise<ChildProcess> {
  try {
    const child = spawnAlone(file, args, options);
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
