import { type CommandsMode, CrewboardError, type NewTask } from '@crewboard/contracts';
import { fillPlaceholders } from './placeholders.ts';
import type { JsonSchema, SchemaCompiler } from './schema-compiler.ts';
import { checksOf } from './task-checks.ts';

/** What decides whether checks can be run at all. */
export interface CheckPlace {
  schemas: SchemaCompiler;
  commands: CommandsMode;
  hasWorkspace: boolean;
}

function refuse(path: string, detail: string): never {
  throw new CrewboardError('invalid_argument', `${path} ${detail}`, { path });
}

function refuseWithoutCommands(path: string, { commands, hasWorkspace }: CheckPlace): void {
  if (commands === 'off') {
    refuse(
      path,
      'needs commands, which are off: set CREWBOARD_COMMANDS for the server, or check by a schema',
    );
  }
  if (!hasWorkspace) refuse(path, 'runs in the workspace, and this job has none: add workspace.path');
}

/**
 * Refuses what of a task could never be checked: schemas that do not compile, commands that can't be run or name
 * fields that its input does not have, and policy `checked` without anything to check. `path` names the task, such as
 * `tasks[3]`; empty for the only one. Throws `invalid_argument`.
 */
export function refuseUnfitChecks(
  task: Pick<NewTask, 'input' | 'outputSchema' | 'acceptance' | 'policy'>,
  path: string,
  place: CheckPlace,
): void {
  const below = (name: string) => (path === '' ? name : `${path}.${name}`);
  const checks = checksOf(task);
  if (task.policy === 'checked' && checks.length === 0) {
    refuse(below('policy'), '"checked" needs something to check: add outputSchema, or a check to acceptance');
  }
  for (const check of checks) {
    const at = below(check.path);
    if (check.kind === 'schema') {
      place.schemas.compile(check.schema, at);
    } else {
      refuseWithoutCommands(at, place);
      fillPlaceholders(check.command, task.input, at);
    }
  }
}

/** Refuses an `outputSchema` of a job that does not compile, or that nobody would ever fulfil: the lead gives the output. */
export function refuseUnfitJobSchema(
  { goal, outputSchema }: { goal?: string | undefined; outputSchema?: JsonSchema | undefined },
  schemas: SchemaCompiler,
): void {
  if (outputSchema === undefined) return;
  if (goal === undefined) refuse('outputSchema', 'is for what a lead gives to finish_job: add a goal');
  schemas.compile(outputSchema, 'outputSchema');
}
