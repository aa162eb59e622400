import { type CommandsMode, CrewboardError } from '@crewboard/contracts';
import { type CommandRunner, createCommandRunner, type Workspace } from '@crewboard/tools';

/** How this process runs commands. */
export interface Commands {
  readonly mode: CommandsMode;
  /** The runner of one workspace. Throws `unavailable` when commands are off, `invalid_argument` for an unfit one. */
  runnerFor(workspace: Workspace): CommandRunner;
  /** Resolves when no command runs: those of aborted attempts take a moment to end. */
  idle(): Promise<void>;
}

/** The refusal of work that needs commands where there are none. */
export function noCommands(what: string): CrewboardError {
  return new CrewboardError(
    'invalid_argument',
    `${what} runs commands, and commands are off here. Nothing was changed. Install bubblewrap on the server and restart it, or set CREWBOARD_COMMANDS to host, which keeps nothing on that machine from them.`,
  );
}

/** Makes what runs commands in `mode`, and knows which of them still run. */
export function createCommands(mode: CommandsMode): Commands {
  const running = new Set<Promise<unknown>>();
  return {
    mode,
    runnerFor({ root, deniedPaths }) {
      if (mode === 'off') {
        throw new CrewboardError('unavailable', 'this worker runs no commands: CREWBOARD_COMMANDS is off.');
      }
      const run = createCommandRunner({ mode, workspaceRoot: root, deniedPaths });
      return (command, options) => {
        const end = run(command, options);
        const over: Promise<void> = end.then(
          () => {},
          () => {},
        );
        running.add(over);
        void over.then(() => running.delete(over));
        return end;
      };
    },
    async idle() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
