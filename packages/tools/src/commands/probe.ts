import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CommandsMode, CrewboardError } from '@crewboard/contracts';
import { createCommandRunner } from './command-runner.ts';

const PROBE_MS = 10_000;

/** Runs one command in a sandbox; answers why that did not work, or undefined when it did. */
async function sandboxProblem(): Promise<string | undefined> {
  const workspaceRoot = await realpath(await mkdtemp(join(tmpdir(), 'crewboard-probe-')));
  try {
    const run = createCommandRunner({ mode: 'sandbox', workspaceRoot, deniedPaths: [] });
    const signal = new AbortController().signal;
    const end = await run('true', { timeoutMs: PROBE_MS, signal });
    return end.exitCode === 0 ? undefined : `a command in it ended with ${end.exitCode ?? end.signal}`;
  } catch (error) {
    if (error instanceof CrewboardError) return error.detail;
    throw error;
  } finally {
    await rm(workspaceRoot, { recursive: true, force: true });
  }
}

/**
 * How commands are run on this machine: as `asked`; absent: `sandbox` where bubblewrap is there and works, else `off`.
 * Throws `invalid_argument` when a sandbox was asked for and can't be had.
 */
export async function resolveCommandsMode(
  asked: CommandsMode | undefined,
  findProblem: () => Promise<string | undefined> = sandboxProblem,
): Promise<CommandsMode> {
  if (asked === 'off' || asked === 'host') return asked;
  const problem = await findProblem();
  if (problem === undefined) return 'sandbox';
  if (asked === undefined) return 'off';
  throw new CrewboardError(
    'invalid_argument',
    `CREWBOARD_COMMANDS is sandbox, but commands can't be confined on this machine: ${problem} Install bubblewrap (apt-get install bubblewrap) and let it use user namespaces, or set CREWBOARD_COMMANDS to off or host.`,
  );
}
