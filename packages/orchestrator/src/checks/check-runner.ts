import { type JobSpec, type JsonValue, OUTPUT_SCHEMA_CHECK } from '@crewboard/contracts';
import type { CommandRunner } from '@crewboard/tools';
import { checkFailed, problemsLine } from './check-failure.ts';
import { type ChecksEnd, type RunChecksOptions, runChecks } from './run-checks.ts';
import type { JsonSchema, SchemaCompiler } from './schema-compiler.ts';
import type { CheckedTask } from './task-checks.ts';

/** Runs checks in the workspaces of jobs. */
export interface CheckRunner {
  /** Runs a task's checks on an output. Rejects as {@link runChecks} does. */
  run(
    task: CheckedTask,
    output: JsonValue | undefined,
    job: JobSpec,
    signal: AbortSignal,
    onCheck?: RunChecksOptions['onCheck'],
  ): Promise<ChecksEnd>;
  /** Refuses a job's output that does not fit its `outputSchema`. Throws `check_failed`. */
  refuseUnfitOutput(job: JobSpec, output: JsonValue | undefined): void;
}

function refuseUnfit(schemas: SchemaCompiler, schema: JsonSchema, output: JsonValue | undefined): void {
  const problems = schemas.compile(schema, OUTPUT_SCHEMA_CHECK)('output', output);
  if (problems.length === 0) return;
  const text = "the job's output fits outputSchema";
  const check = {
    kind: 'schema' as const,
    id: OUTPUT_SCHEMA_CHECK,
    text,
    path: OUTPUT_SCHEMA_CHECK,
    schema,
  };
  throw checkFailed({ check, line: problemsLine(problems), problems });
}

/** Makes the runner of a process; `runnerOf` opens a job's workspace for commands. */
export function createCheckRunner(
  schemas: SchemaCompiler,
  runnerOf: (job: JobSpec) => Promise<CommandRunner>,
): CheckRunner {
  return {
    run: (task, output, job, signal, onCheck) =>
      runChecks(task, output, { schemas, openRunner: () => runnerOf(job), signal, onCheck }),
    refuseUnfitOutput(job, output) {
      if (job.outputSchema !== undefined) refuseUnfit(schemas, job.outputSchema, output);
    },
  };
}
