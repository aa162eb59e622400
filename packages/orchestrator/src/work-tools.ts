import { CrewboardError, type JobSpec, secretsRemover, shownLine, type Tool } from '@crewboard/contracts';
import {
  type CommandRunner,
  createFileLocks,
  createWorkTools,
  openWorkspace,
  type Workspace,
} from '@crewboard/tools';
import { createCommands } from './commands.ts';
import type { Settings } from './settings.ts';
import { withoutSecrets } from './without-secrets.ts';

/** What jobs may do in their workspaces, for all attempts of one process. */
export interface WorkTools {
  /** The work tools that a job allows, confined to its workspace; none without one. */
  toolsOf(spec: JobSpec): Promise<Tool[]>;
  /**
   * Runs commands in the job's workspace. Throws `invalid_argument` when it has none any more, `unavailable` when
   * this process runs no commands.
   */
  runnerOf(spec: JobSpec): Promise<CommandRunner>;
  /** Resolves when no command runs: those of aborted attempts take a moment to end. */
  idle(): Promise<void>;
}

/**
 * At the submit the path was the physical one and within the allowed roots. A link in its place by now, perhaps by a
 * command of another job, may lead anywhere.
 */
function replaced(path: string): CrewboardError {
  return new CrewboardError(
    'forbidden',
    `the workspace ${shownLine(path, 300)} is no folder of its own any more: since the job was submitted, it, or a folder above it, has been replaced by a link.`,
    { next: 'put the folder back, or submit the job again with the path that is meant' },
  );
}

/** Makes the work tools of a process; its agents share the locks of files. */
export function createJobTools({ commands: mode, dataDir, secrets }: Settings): WorkTools {
  const own = withoutSecrets(secretsRemover(secrets));
  const commands = createCommands(mode);
  const locks = createFileLocks();

  async function workspaceOf(spec: JobSpec): Promise<Workspace> {
    if (spec.workspace === undefined) {
      throw new CrewboardError('invalid_argument', 'the job has no workspace to run commands in.');
    }
    const { path } = spec.workspace;
    const workspace = await openWorkspace({ root: path, deniedPaths: [dataDir] });
    if (workspace.root !== path) throw replaced(path);
    return workspace;
  }

  return {
    async toolsOf(spec) {
      if (spec.workspace === undefined) return [];
      const workspace = await workspaceOf(spec);
      const runs = mode !== 'off' && spec.tools.includes('run_command');
      const tools = createWorkTools(
        {
          workspace,
          locks,
          ...(runs ? { commands: { run: commands.runnerFor(workspace), mode } } : {}),
        },
        spec.tools,
      );
      return own.tools(tools);
    },
    runnerOf: async (spec) => own.runner(commands.runnerFor(await workspaceOf(spec))),
    idle: commands.idle,
  };
}
