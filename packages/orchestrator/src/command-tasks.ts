import { type Boards, inSlices } from '@crewboard/board';
import {
  type CommandsMode,
  CrewboardError,
  type JobSpec,
  type NewTask,
  type PlanOp,
  type TaskChanges,
} from '@crewboard/contracts';
import { fillPlaceholders } from './checks/placeholders.ts';
import { noCommands } from './commands.ts';

type CommandFields = Partial<
  Pick<NewTask, 'executor' | 'command' | 'input' | 'policy' | 'outputSchema' | 'acceptance'>
>;

/** What decides whether command tasks may stand in a job. */
export interface CommandRules {
  commands: CommandsMode;
  hasWorkspace: boolean;
}

function refuse(path: string, detail: string): never {
  throw new CrewboardError('invalid_argument', `${path}: ${detail}`, { path });
}

/**
 * Refuses a task whose command could not be run here, or whose end would not say what its policy asks for; `path` names
 * the task in the error. Throws `invalid_argument`.
 */
function refuseUnfitCommand(task: CommandFields, path: string, rules: CommandRules): void {
  if (task.executor !== 'command') {
    if (task.command !== undefined) refuse(`${path}.command`, 'a command needs "executor": "command"');
    return;
  }
  if (task.command === undefined) {
    refuse(`${path}.command`, 'the executor "command" needs one, such as {"run": "npm test"}');
  }
  if (!rules.hasWorkspace) refuse(path, 'a command runs in the workspace: add workspace.path to the job');
  if (rules.commands === 'off') throw noCommands(path);
  fillPlaceholders(task.command.run, task.input, `${path}.command.run`);
  if (task.policy === 'evidence') {
    refuse(`${path}.policy`, 'a command states no evidence; use "none" or "approved"');
  }
  const isChecked =
    task.policy === 'checked' ||
    task.outputSchema !== undefined ||
    task.acceptance?.some(({ check }) => check !== undefined);
  if (isChecked)
    refuse(path, 'a command task is checked by its exit code alone; put the check into command.run');
}

const COMMAND_FIELDS = [
  'executor',
  'command',
  'input',
  'policy',
  'outputSchema',
  'acceptance',
] as const satisfies readonly (keyof CommandFields)[];

/**
 * Refuses an edit after which a command task could not be run or completed as it must. A task that was given to
 * somebody else keeps its command unused. Throws `invalid_argument`.
 */
export function refuseUnfitCommandEdit(
  before: CommandFields,
  patch: Pick<TaskChanges, keyof CommandFields>,
  path: string,
  rules: CommandRules,
): void {
  if (COMMAND_FIELDS.every((name) => patch[name] === undefined)) return;
  const { outputSchema = before.outputSchema, ...others } = patch;
  const after = { ...before, ...others, outputSchema: outputSchema ?? undefined };
  if (after.executor === 'command' || patch.command !== undefined) refuseUnfitCommand(after, path, rules);
}

/** Refuses the tool that runs commands where none are run. */
export function refuseCommandTool(tools: readonly string[] = [], commands: CommandsMode): void {
  if (tools.includes('run_command') && commands === 'off') throw noCommands('tools (run_command)');
}

/**
 * Refuses tasks that need commands where they can't be had, or in a form that can't be run; gives way to other work between tasks. `pathOf` names
 * a task by its index, by default `tasks[<index>]`.
 */
export async function refuseUnfitCommands(
  tasks: readonly NewTask[],
  rules: CommandRules,
  pathOf: (index: number) => string = (i) => `tasks[${i}]`,
): Promise<void> {
  await inSlices(tasks, (task, i) => refuseUnfitCommand(task, pathOf(i), rules));
}

/**
 * What a lead may plan of commands. A job whose tools do not name `run_command` was not given the right to run what a
 * model thinks of, so there its lead may not do so by way of a task either.
 */
export function leadCommandRules(boards: Boards, spec: JobSpec, commands: CommandsMode) {
  const rules = { commands, hasWorkspace: spec.workspace !== undefined };
  return async (ops: readonly PlanOp[]): Promise<void> => {
    for (const [i, op] of ops.entries()) {
      if (op.op !== 'add' && op.op !== 'edit') continue;
      const isForCommand = op.executor === 'command' || op.command !== undefined;
      if (isForCommand && !spec.tools.includes('run_command')) {
        throw new CrewboardError(
          'forbidden',
          `ops[${i}] plans a command, and the tools of this job do not include run_command. Nothing was changed. Plan a task for an agent.`,
        );
      }
      if (op.op === 'add') refuseUnfitCommand(op, `ops[${i}]`, rules);
      else {
        const [before] = await boards.readTasks(spec.id, [op.taskId], true);
        refuseUnfitCommandEdit(before ?? {}, op, `ops[${i}]`, rules);
      }
    }
  };
}
