import { type CommandsMode, RunCommandInput, type Tool } from '@crewboard/contracts';
import type { z } from 'zod';
import type { CommandRunner } from './commands/command-runner.ts';
import type { CommandEnd } from './commands/run-launched.ts';

const DEFAULT_TIMEOUT_MS = 120_000;
/** Above the longest timeout that a call may ask for: the command's own time ends it, or that of the attempt. */
const TOOL_TIMEOUT_MS = 86_460_000;

const PLACE: Record<Exclude<CommandsMode, 'off'>, string> = {
  sandbox:
    'It runs in a sandbox without network: only the workspace and a private /tmp can be written, the system can be read, nothing else of the machine is there, and .env*, .npmrc, .ssh and .git of the workspace are closed.',
  host: 'It runs on the machine itself: be careful, and stay in the workspace.',
};

const description = (mode: Exclude<CommandsMode, 'off'>) =>
  [
    'Run a shell command (/bin/sh -c) in the workspace: {command, timeoutMs?}.',
    'The first line of the answer says how it ended; after it come standard output and error as they were written, the',
    'first and the last part when there is more than 64 KB. Nothing can be typed into it, and what it leaves running in',
    `the background is ended with it. timeoutMs is ${DEFAULT_TIMEOUT_MS} unless given.`,
    PLACE[mode],
  ].join(' ');

/** How a command ended, in words. */
export function endInWords({ exitCode, signal, timedOut, durationMs }: CommandEnd): string {
  const how = exitCode === null ? `ended by ${signal}` : `exit code ${exitCode}`;
  return `${timedOut ? 'timed out and was stopped' : how} after ${(durationMs / 1000).toFixed(1)} s`;
}

/** Makes `run_command` over the runner of a workspace; `mode` is that runner's. */
export function createRunCommandTool(
  run: CommandRunner,
  mode: Exclude<CommandsMode, 'off'>,
): Tool<z.infer<typeof RunCommandInput>> {
  return {
    name: 'run_command',
    description: description(mode),
    inputSchema: RunCommandInput,
    readOnly: false,
    timeoutMs: TOOL_TIMEOUT_MS,
    async execute({ command, timeoutMs = DEFAULT_TIMEOUT_MS }, { signal }) {
      const end = await run(command, { timeoutMs, signal });
      return {
        content: `${endInWords(end)}${end.truncated ? ' · the middle of its output is left out' : ''}\n${end.output}`,
        isError: end.exitCode !== 0,
      };
    },
  };
}
