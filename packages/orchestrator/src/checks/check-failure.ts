import {
  type CheckedData,
  CrewboardError,
  cutUtf8,
  type Evidence,
  OUTPUT_SCHEMA_CHECK,
} from '@crewboard/contracts';
import { tailOf } from '../tail.ts';
import { problemLine, type SchemaProblem } from './schema-problems.ts';
import type { TaskCheck } from './task-checks.ts';

/** Bytes of a command's output that a model is told, that stands as evidence, and in the reason of a failure. */
const TOLD_BYTES = 12_000;
const EVIDENCE_BYTES = 4000;
const REASON_BYTES = 2000;
const LINE_BYTES = 500;

/** A check that a submission did not pass. */
export interface CheckFailure {
  check: TaskCheck;
  /** What is wrong, in one line. */
  line: string;
  /** Of a schema. */
  problems?: SchemaProblem[];
  /** Of a command. */
  command?: string;
  exitCode?: number | null;
  output?: string;
}

/** The line of a failed schema. */
export function problemsLine(problems: readonly SchemaProblem[]): string {
  return problems.map(problemLine).join('; ');
}

/** The refusal that tells a model what to mend before it submits again. */
export function checkFailed({
  check,
  line,
  problems,
  command,
  exitCode,
  output,
}: CheckFailure): CrewboardError {
  const named = check.id === OUTPUT_SCHEMA_CHECK ? 'the output' : `check "${check.id}"`;
  return new CrewboardError(
    'check_failed',
    `${named} failed: ${cutUtf8(line, REASON_BYTES)}. Nothing was changed. Mend it, then submit again.`,
    {
      check: check.id,
      asked: check.text,
      ...(problems === undefined ? {} : { problems }),
      ...(command === undefined ? {} : { command, exitCode }),
      ...(output === undefined ? {} : { output: tailOf(output, TOLD_BYTES) }),
    },
  );
}

/** Why an attempt failed, for people and the next attempt: the check, what is wrong, the end of its output. */
export function failureReason({ check, line, output }: CheckFailure): string {
  const head = cutUtf8(`check "${check.id}" failed: ${line}`, REASON_BYTES);
  return output === undefined || output === '' ? head : `${head}\n${tailOf(output, REASON_BYTES)}`;
}

/** What the log says of a failed check. */
export function failureTold({ check, line }: CheckFailure): CheckedData {
  return { passed: false, check: check.id, reason: cutUtf8(line, LINE_BYTES) };
}

/** What the log says of checks that have passed. */
export function passTold(checks: readonly TaskCheck[]): CheckedData {
  return { passed: true, checks: checks.map(({ id }) => id) };
}

/** What stays of a check that has passed. That of `outputSchema` belongs to no acceptance item. */
export function evidenceOf(check: TaskCheck, output: string): Evidence {
  return {
    ...(check.id === OUTPUT_SCHEMA_CHECK ? {} : { acceptanceId: check.id }),
    kind: 'check',
    passed: true,
    ...(output === '' ? {} : { text: tailOf(output, EVIDENCE_BYTES) }),
  };
}
