import type { Boards } from '@crewboard/board';
import { shownLine, type Task } from '@crewboard/contracts';
import { notFollowed, type Roots } from './roots.ts';
import { nameOf } from './task-state.ts';

/** Of one text of others inside the line, in columns. */
const QUOTED_MOST = 300;
/** What the log of an older board says of a task that was lost with a dependency, without naming that. */
const LOST_REASON = 'a dependency was lost';

/** A task that was cancelled because of others. */
export interface CancelledBecause {
  text: string;
  /** What it was cancelled because of, root first. */
  tasks: Task[];
}

/** Puts the state of a task into words, as what follows its name. */
type Say = (task: Task) => Promise<string>;

interface Means {
  /** Follows what the task was lost with. */
  rootsOf: () => Promise<Roots>;
  say: Say;
}

const text = (value: unknown) => (typeof value === 'string' && value.trim() !== '' ? value : undefined);

/** Of a task that was lost with a dependency: the root of that, or at least the dependency as the log names it. */
async function lostWith(roots: Roots, nearest: Task | undefined, say: Say) {
  const {
    roots: [root],
    between,
  } = roots;
  if (root !== undefined) {
    const of = between === undefined ? '' : ` of ${nameOf(between)}:`;
    return {
      text: `was cancelled because${of} ${nameOf(root)} ${await say(root)}${notFollowed(roots)}`,
      tasks: [root, ...(between === undefined ? [] : [between])],
    };
  }
  if (nearest === undefined) return undefined;
  const was = `was cancelled because ${nameOf(nearest)} was lost then; now that one ${await say(nearest)}`;
  return { text: was, tasks: [nearest] };
}

/**
 * Says what another task did to one that is cancelled: a dependency that was lost, where it asks to be cancelled then,
 * or a cancel that took its dependents along. Undefined for a task that somebody cancelled by itself.
 */
export async function cancelledBecause(
  boards: Boards,
  jobId: string,
  task: Task,
  { rootsOf, say }: Means,
): Promise<CancelledBecause | undefined> {
  const end = await boards.cancelEvent(jobId, task);
  const first = text(end?.data?.with);
  const lost = text(end?.data?.because);
  const [named] = await boards.readTasks(jobId, [first ?? lost ?? []].flat(), false);
  if (first !== undefined && named !== undefined) {
    const reason = text(end?.data?.reason);
    const why = reason === undefined ? '' : `: ${shownLine(reason, QUOTED_MOST)}`;
    return {
      text: `was cancelled by ${end?.by.id} together with ${nameOf(named)}, which it depends on${why}`,
      tasks: [named],
    };
  }
  if (lost === undefined && end?.data?.reason !== LOST_REASON) return undefined;
  return lostWith(await rootsOf(), named, say);
}
