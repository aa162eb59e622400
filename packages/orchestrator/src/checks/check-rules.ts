import { type Boards, inSlices } from '@crewboard/board';
import {
  type CommandsMode,
  CrewboardError,
  type JobSpec,
  type NewTask,
  type PlanOp,
  type Task,
} from '@crewboard/contracts';
import { type CheckPlace, refuseUnfitChecks, refuseUnfitJobSchema } from './fit.ts';
import { createSchemaCompiler, type JsonSchema, type SchemaCompiler } from './schema-compiler.ts';
import { runsCommands } from './task-checks.ts';

/** What of a job decides how its tasks are checked. */
type CheckedJob = Pick<JobSpec, 'workspace'>;

/** The values of a task that its checks depend on. */
type CheckedFields = { [Name in 'input' | 'outputSchema' | 'acceptance' | 'policy']?: NewTask[Name] };
/** Of an edit those that it changes; null takes the value away. */
type CheckedChanges = Omit<CheckedFields, 'outputSchema'> & {
  outputSchema?: NewTask['outputSchema'] | null;
};

/** Refuses checks that could never be run; every call throws `invalid_argument` naming the path. */
export interface CheckRules {
  /** Of many tasks, without keeping the process from its other work; `pathOf` names one, by default `tasks[<index>]`. */
  refuseUnfitTasks(
    tasks: readonly NewTask[],
    job: CheckedJob,
    pathOf?: (index: number) => string,
  ): Promise<void>;
  /** Of a task as it will be after an edit. */
  refuseUnfitEdit(task: Task, patch: CheckedChanges, path: string, job: CheckedJob): void;
  /** An `outputSchema` of a job that is no schema, or without a lead to fulfil it. */
  refuseUnfitJob(job: { goal?: string | undefined; outputSchema?: JsonSchema | undefined }): void;
}

function edited(task: CheckedFields, patch: CheckedChanges): CheckedFields {
  const { outputSchema } = patch;
  return {
    input: patch.input ?? task.input,
    outputSchema: outputSchema === undefined ? task.outputSchema : (outputSchema ?? undefined),
    acceptance: patch.acceptance ?? task.acceptance,
    policy: patch.policy,
  };
}

function placeOf(schemas: SchemaCompiler, commands: CommandsMode, { workspace }: CheckedJob): CheckPlace {
  return { schemas, commands, hasWorkspace: workspace !== undefined };
}

/** Makes the rules of a process whose commands run in this mode. */
export function createCheckRules(commands: CommandsMode, schemas = createSchemaCompiler()): CheckRules {
  return {
    async refuseUnfitTasks(tasks, job, pathOf = (i) => `tasks[${i}]`) {
      const place = placeOf(schemas, commands, job);
      await inSlices(tasks, (task, i) => refuseUnfitChecks(task, pathOf(i), place));
    },
    refuseUnfitEdit: (task, patch, path, job) =>
      refuseUnfitChecks(edited(task, patch), path, placeOf(schemas, commands, job)),
    refuseUnfitJob: (job) => refuseUnfitJobSchema(job, schemas),
  };
}

function isAboutChecks({ input, outputSchema, acceptance, policy }: CheckedChanges): boolean {
  return [input, outputSchema, acceptance, policy].some((value) => value !== undefined);
}

/**
 * What a lead may plan of checks. A job whose tools do not name `run_command` was not given the right to run what a
 * model thinks of, so there its lead may not do so by way of a check either: `forbidden`.
 */
export function leadCheckRules(
  boards: Boards,
  spec: JobSpec,
  commands: CommandsMode,
  schemas: SchemaCompiler,
): (ops: readonly PlanOp[]) => Promise<void> {
  const place = placeOf(schemas, commands, spec);
  return async (ops) => {
    for (const [i, op] of ops.entries()) {
      if ((op.op !== 'add' && op.op !== 'edit') || !isAboutChecks(op)) continue;
      if (runsCommands(edited({}, op)) && !spec.tools.includes('run_command')) {
        throw new CrewboardError(
          'forbidden',
          `ops[${i}] plans a check that runs a command, and the tools of this job do not include run_command. Nothing was changed. Check by a schema, or state it as text.`,
        );
      }
      const [before] = op.op === 'edit' ? await boards.readTasks(spec.id, [op.taskId], true) : [];
      refuseUnfitChecks(edited(before ?? {}, op), `ops[${i}]`, place);
    }
  };
}
