import type { CommandsMode } from '@crewboard/contracts';
import { launchOnHost } from './host.ts';
import { type CommandBounds, type CommandEnd, DEFAULT_BOUNDS, runLaunched } from './run-launched.ts';
import { launchInSandbox, mustBeConfinable } from './sandbox.ts';

export interface CommandRunnerOptions {
  /** `sandbox`: bubblewrap; `host`: like every process of this machine, which keeps nothing from commands. */
  mode: Exclude<CommandsMode, 'off'>;
  /** Absolute and physical: where commands run, and the only folder that a sandboxed one may change. */
  workspaceRoot: string;
  /** Absolute and physical, such as the data folder; masked in the sandbox. They need not exist. */
  deniedPaths: readonly string[];
  bounds?: Partial<CommandBounds>;
}

/**
 * Runs `command` by `/bin/sh -c` and resolves with how it ended, also when it failed or ran out of time. When it
 * resolves or rejects, no process of the command is left. Rejects only with the reason of `signal`, or with
 * `unavailable` when the command could not be started at all: that says nothing about the command.
 */
export type CommandRunner = (
  command: string,
  options: { timeoutMs: number; signal: AbortSignal },
) => Promise<CommandEnd>;

/**
 * Makes the runner of one workspace. It opens nothing; each command is started by itself. Throws `invalid_argument`
 * when a sandbox for this workspace would show, or let commands change, what it must not.
 */
export function createCommandRunner(options: CommandRunnerOptions): CommandRunner {
  const { mode, workspaceRoot, deniedPaths } = options;
  if (mode === 'sandbox') mustBeConfinable(workspaceRoot, deniedPaths);
  const bounds = { ...DEFAULT_BOUNDS, ...options.bounds };
  const launch = mode === 'sandbox' ? launchInSandbox : launchOnHost;
  return async (command, { timeoutMs, signal }) => {
    signal.throwIfAborted();
    const launched = await launch(command, options, signal);
    return await runLaunched(launched, { timeoutMs, signal, bounds });
  };
}
