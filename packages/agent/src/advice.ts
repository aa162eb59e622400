import { type CrewboardError, type NextCall, type Tool, toolCall } from '@crewboard/contracts';
import type { Run } from './run.ts';

/** A refused call of a tool of this run. */
export interface Refused {
  tool: Tool;
  error: CrewboardError;
  /** The input that was refused. */
  given: unknown;
}

/** How the refused call can be mended: a valid form of it, and what to change in words. */
export interface Mended {
  example: unknown;
  change: string | undefined;
}

const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};

/** True when the call named no task, and its valid form one that was made up. */
function lacksTask({ error, given }: Refused, { example }: Mended): boolean {
  if (error.code !== 'invalid_argument' || error.extras.path !== 'taskId') return false;
  return !Object.values(fieldsOf(given)).includes(fieldsOf(example).taskId);
}

/**
 * The refused call once more: what only reads can be sent like its example, what writes is mended in words, for sent as
 * it stands an example could change what its reader did not mean to. Undefined when nothing is known to be changed.
 */
function onceMore({ tool }: Refused, { example, change }: Mended): string | undefined {
  if (tool.readOnly && example !== undefined) return toolCall({ call: 'again' }, tool.name, example);
  return change === undefined ? undefined : toolCall({ call: 'again', with: change }, tool.name);
}

function wanted(next: NextCall, refused: Refused, mended: Mended): string | undefined {
  if (next.call === 'again') {
    const change = mended.example === undefined ? (next.with ?? mended.change) : next.with;
    return toolCall(
      change === undefined ? next : { ...next, with: change },
      refused.tool.name,
      mended.example,
    );
  }
  const writesTask = next.call === 'look' && next.taskId !== undefined && !refused.tool.readOnly;
  if (next.call !== 'look' || writesTask) return toolCall(next, refused.tool.name);
  if (lacksTask(refused, mended)) return toolCall({ call: 'list_tasks' }, refused.tool.name);
  return onceMore(refused, mended) ?? toolCall(next, refused.tool.name);
}

/** Says the call that an error advises, by tools that this run has; undefined where none of them helps. */
export function adviceFor(run: Run, refused: Refused, next: NextCall, mended: Mended): string | undefined {
  const said = wanted(next, refused, mended);
  const [name = ''] = said?.split(' ', 1) ?? [];
  return run.tools.has(name) ? said : onceMore(refused, mended);
}

/** A call as tools write one themselves: `list_files {"glob":"docs/*"}`. */
const WRITTEN_CALL = /^([\w-]+) \{/;

/** The error without the call that its tool advises, where that is one of a tool which this run does not have. */
export function withOwnNext(run: Run, error: CrewboardError): CrewboardError {
  const { next } = error.extras;
  const name = typeof next === 'string' ? WRITTEN_CALL.exec(next)?.[1] : undefined;
  return name === undefined || run.tools.has(name) ? error : error.with({ next: undefined });
}
