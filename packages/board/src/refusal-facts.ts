import { isoTime, type Readiness } from '@crewboard/contracts';
import { z } from 'zod';
import { parseOwner } from './actors.ts';
import { type Asked, type Asker, allowedActions } from './allowed-actions.ts';
import { statusOf } from './codes.ts';
import { toTask } from './public-task.ts';
import { holdOf } from './readiness.ts';
import type { BoardRecord as BoardRecordType, TaskRow } from './records.ts';
import { BoardRecord, OptionalRow } from './rows.ts';
import type { ScriptArguments, ScriptName } from './scripts.ts';
import { withoutAbsent } from './without-absent.ts';

/** Dependencies that a refusal names in words; `current.readiness` has more of them. */
const NAMED_MOST = 3;

const RowsReply = z.tuple([z.literal('ok'), BoardRecord, z.array(OptionalRow)]);

/** A task as a refusal speaks of it: what a script does not know that only says no. */
export interface TaskFacts {
  /** `#3 t_4kx9m2ab`. */
  name: string;
  /** Where it is, in words: "waits for #1 t_x (in_progress)". */
  where: string;
  current: Record<string, unknown>;
  allowed: string[];
}

/** Runs `read_tasks` for some tasks of the board in question. */
type ReadRows = (taskIds: readonly string[]) => Promise<unknown>;

const nameOf = ({ id, hot }: TaskRow) => (hot.number === 0 ? `the lead ${id}` : `#${hot.number} ${id}`);

/** What a task waits for of people is no claim: who wants it is told what people can do. */
const UP_TO_PEOPLE: readonly string[] = ['blocked', 'in_review'];

/** Who makes a call of a script, to a task of this status; `isOutside`: its token is not, or no longer, the task's. */
export function askerOf(name: ScriptName, args: ScriptArguments, isOutside: boolean, status: string): Asker {
  if (name === 'claim' && UP_TO_PEOPLE.includes(status)) return 'person';
  if (name === 'claim' || isOutside) return 'claimant';
  if (name === 'plan' || name === 'resolve') return args[1] === '' ? 'person' : 'lead';
  return 'holder';
}

function jobOf(board: BoardRecordType): Asked['job'] {
  if (board.endedAt > 0) return 'ended';
  return board.cancelling ? 'cancelling' : 'open';
}

function currentOf(row: TaskRow, readiness: Readiness | undefined) {
  const { hot } = row;
  return withoutAbsent({
    taskId: row.id,
    status: statusOf(hot.code),
    version: hot.version,
    attempt: hot.attempt,
    owner: parseOwner(hot.owner),
    readiness,
    notBefore: hot.notBefore > 0 ? isoTime(hot.notBefore) : undefined,
  });
}

/** The tasks that stand in the way, in words: "#1 t_x (in_progress), #2 t_y (pending) and 4 more". */
async function named(open: readonly string[], read: ReadRows): Promise<string> {
  const [, , rows] = RowsReply.parse(await read(open.slice(0, NAMED_MOST)));
  const words = rows.flatMap((row) =>
    row === undefined ? [] : [`${nameOf(row)} (${statusOf(row.hot.code)})`],
  );
  const more = open.length - words.length;
  return words.join(', ') + (more > 0 ? ` and ${more} more` : '');
}

async function whereOf(row: TaskRow, readiness: Readiness | undefined, read: ReadRows): Promise<string> {
  switch (readiness?.state) {
    case undefined:
      return `is ${statusOf(row.hot.code)}`;
    case 'waiting':
      return row.open.length === 0
        ? 'waits for news of its board'
        : `waits for ${await named(row.open, read)}`;
    case 'unreachable':
      return `can't be reached, because of ${await named(row.open, read)}`;
    case 'scheduled':
      return `is scheduled for ${readiness.at}`;
    case 'held':
      return readiness.cause === 'proposal'
        ? 'is a proposal: the lead or a person must approve it first'
        : `is held (${readiness.cause})`;
    case 'ready':
      return 'is ready';
  }
}

/** Reads what a refusal says of a task; undefined when it is no longer there. At most NAMED_MOST others are read. */
export async function readTaskFacts(
  read: ReadRows,
  taskId: string,
  asker: Asker,
): Promise<TaskFacts | undefined> {
  const [, board, [row]] = RowsReply.parse(await read([taskId]));
  if (row === undefined) return undefined;
  const { readiness } = toTask(row, holdOf(board));
  const { code, number, hold } = row.hot;
  return {
    name: nameOf(row),
    where: await whereOf(row, readiness, read),
    current: currentOf(row, readiness),
    allowed: allowedActions({ code, number, hold, readiness, job: jobOf(board) }, asker),
  };
}
