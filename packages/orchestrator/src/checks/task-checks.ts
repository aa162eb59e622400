import { type AcceptanceItem, type NewTask, OUTPUT_SCHEMA_CHECK, type Policy } from '@crewboard/contracts';
import type { JsonSchema } from './schema-compiler.ts';

/** What of a task says how it is checked. */
export type CheckedTask = Pick<NewTask, 'input' | 'outputSchema' | 'acceptance'>;

interface CheckBase {
  /** The acceptance item's ID, or `outputSchema`. */
  id: string;
  /** What it is to show, in people's words. */
  text: string;
  /** Where it stands in the task. */
  path: string;
}

/** One check of a task, in the order in which they are run. */
export type TaskCheck =
  | (CheckBase & { kind: 'schema'; schema: JsonSchema })
  | (CheckBase & { kind: 'run'; command: string; timeoutMs: number | undefined });

function checkOf({ id, text, check }: AcceptanceItem, index: number): TaskCheck[] {
  if (check === undefined) return [];
  const path = `acceptance[${index}].check`;
  if ('schema' in check) {
    return [{ kind: 'schema', id, text, path: `${path}.schema`, schema: check.schema }];
  }
  return [{ kind: 'run', id, text, path: `${path}.run`, command: check.run, timeoutMs: check.timeoutMs }];
}

/** The checks of a task: its `outputSchema`, then those of its acceptance items. */
export function checksOf({ outputSchema, acceptance = [] }: CheckedTask): TaskCheck[] {
  const checks = acceptance.flatMap(checkOf);
  if (outputSchema === undefined) return checks;
  const text = 'the output fits outputSchema';
  const ofOutput = { kind: 'schema' as const, id: OUTPUT_SCHEMA_CHECK, text, schema: outputSchema };
  return [{ ...ofOutput, path: 'outputSchema' }, ...checks];
}

/** True when a submission of the task has to pass checks: it has some, and its policy asks for them. */
export function isChecked(task: CheckedTask & { policy: Policy }): boolean {
  return (task.policy === 'checked' || task.policy === 'approved') && checksOf(task).length > 0;
}

/** True when a check of the task runs a command. */
export function runsCommands(task: CheckedTask): boolean {
  return checksOf(task).some(({ kind }) => kind === 'run');
}
