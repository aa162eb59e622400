import { cleanText } from '@crewboard/agent';
import { CrewboardError, type Evidence, type JsonValue } from '@crewboard/contracts';
import type { CommandEnd, CommandRunner } from '@crewboard/tools';
import { type CheckFailure, evidenceOf, problemsLine } from './check-failure.ts';
import { fillPlaceholders } from './placeholders.ts';
import type { SchemaCompiler } from './schema-compiler.ts';
import { type CheckedTask, checksOf, type TaskCheck } from './task-checks.ts';

/** Time of a check's command that names none. */
const CHECK_TIMEOUT_MS = 600_000;

/** How the checks of a submission went: all passed, or the first that did not. */
export type ChecksEnd = { passed: true; evidence: Evidence[] } | { passed: false; failure: CheckFailure };

export interface RunChecksOptions {
  schemas: SchemaCompiler;
  /** Makes the runner of the job's workspace; called once, when there is a command. Rejects when there can be none. */
  openRunner: () => Promise<CommandRunner>;
  signal: AbortSignal;
  /** Told of each check by its ID before it is run. */
  onCheck?: ((id: string) => void) | undefined;
}

function endLine({ timedOut, exitCode, signal }: CommandEnd, timeoutMs: number): string {
  if (timedOut) return `it did not end within ${timeoutMs} ms and was stopped`;
  return exitCode === null ? `it was ended by ${signal}` : `exit code ${exitCode}`;
}

type CheckEnd = Evidence | CheckFailure;
const isFailure = (end: CheckEnd): end is CheckFailure => 'check' in end;

/** What kept a check from being run: it says nothing about the submission. */
function notRun({ id }: TaskCheck, error: unknown): CrewboardError {
  const detail = error instanceof CrewboardError ? error.detail : String(error);
  return new CrewboardError(
    'unavailable',
    `check "${id}" could not be run: ${detail.replace(/\.$/, '')}`,
    {},
    { cause: error },
  );
}

async function runCommandCheck(
  check: Extract<TaskCheck, { kind: 'run' }>,
  input: JsonValue | undefined,
  { openRunner, signal }: RunChecksOptions,
): Promise<CheckEnd> {
  const timeoutMs = check.timeoutMs ?? CHECK_TIMEOUT_MS;
  const command = fillPlaceholders(check.command, input, check.path);
  const run = await openRunner();
  const end = await run(command, { timeoutMs, signal });
  const output = cleanText(end.output);
  if (end.exitCode === 0 && !end.timedOut) return evidenceOf(check, output);
  return { check, line: endLine(end, timeoutMs), command, exitCode: end.exitCode, output };
}

function runSchemaCheck(
  check: Extract<TaskCheck, { kind: 'schema' }>,
  output: JsonValue | undefined,
  schemas: SchemaCompiler,
): CheckEnd {
  const problems = schemas.compile(check.schema, check.path)('output', output);
  return problems.length === 0 ? evidenceOf(check, '') : { check, line: problemsLine(problems), problems };
}

/**
 * Runs the checks of a task on a submission's output, one after the other up to the first that fails. Rejects with the
 * reason of `signal`, or with `unavailable` when a check could not be run: that is no verdict.
 */
export async function runChecks(
  task: CheckedTask,
  output: JsonValue | undefined,
  options: RunChecksOptions,
): Promise<ChecksEnd> {
  const evidence: Evidence[] = [];
  let runner: Promise<CommandRunner> | undefined;
  const openOnce = () => {
    runner ??= options.openRunner();
    return runner;
  };
  for (const check of checksOf(task)) {
    options.signal.throwIfAborted();
    options.onCheck?.(check.id);
    try {
      const end =
        check.kind === 'schema'
          ? runSchemaCheck(check, output, options.schemas)
          : await runCommandCheck(check, task.input, { ...options, openRunner: openOnce });
      if (isFailure(end)) return { passed: false, failure: end };
      evidence.push(end);
    } catch (error) {
      options.signal.throwIfAborted();
      throw notRun(check, error);
    }
  }
  return { passed: true, evidence };
}
