import { type Boards, type JobState, withoutAbsent } from '@crewboard/board';
import { isEnded, isLost, isTerminal, type Task, type Why } from '@crewboard/contracts';
import { isBehindOthers, notFollowed, rootsOf } from './roots.ts';
import { nameOf, taskState } from './task-state.ts';
import { cancelledBecause } from './why-cancelled.ts';
import type { ServedBy } from './worker-registry.ts';

/** Tasks that an answer names. */
const NAMED_MOST = 20;

/**
 * Says why a task is where it is, in one line and as data: what it waits for up to the root of the chain, who holds it,
 * what it needs, how it ended. Reads one after the other, so on a busy board the parts may be of different moments.
 * `followedMost`: tasks above one that are followed at most.
 */
export function createWhy(boards: Boards, servedBy: ServedBy, followedMost?: number) {
  const stateOf = taskState(boards, servedBy);

  /** Of a task that waits for others: the roots of what is above it, worst first, and what stands between. */
  async function behind(state: JobState, task: Task): Promise<{ text: string; tasks: Task[] }> {
    const found = await rootsOf(boards, state.spec.id, task, followedMost);
    const { roots, direct, between } = found;
    const [root] = roots;
    // Settled between two reads.
    if (root === undefined) return { text: 'waits: its dependencies have just changed', tasks: direct };
    const more = found.count > 1 && !isLost(root) ? ` (and ${found.count - 1} more)` : '';
    const said = `${await stateOf(state, root)}${more}${notFollowed(found)}`;
    const tasks = [...roots, ...direct, ...(between === undefined ? [] : [between])];
    if (task.readiness?.state === 'unreachable') {
      const through = between === undefined ? '' : ` because of ${nameOf(between)}`;
      return { text: `can not be reached${through}: ${nameOf(root)} ${said}`, tasks };
    }
    if (between === undefined) return { text: `waits for ${nameOf(root)}, which ${said}`, tasks };
    return { text: `waits for ${nameOf(between)}: ${nameOf(root)} ${said}`, tasks };
  }

  /** Of a task that was cancelled because of others: because of which. */
  async function lost(state: JobState, task: Task): Promise<{ text: string; tasks: Task[] } | undefined> {
    if (task.status !== 'cancelled') return undefined;
    return cancelledBecause(boards, state.spec.id, task, {
      rootsOf: () => rootsOf(boards, state.spec.id, task, followedMost),
      say: (each) => stateOf(state, each),
    });
  }

  /** Of a ready task whose job runs one at a time: the one that runs. */
  async function behindTheOne(
    state: JobState,
    task: Task,
  ): Promise<{ text: string; tasks: Task[] } | undefined> {
    const isReady = task.readiness?.state === 'ready' && task.number > 0;
    if (!isReady || state.spec.allowParallelInProgress) return undefined;
    const { tasks } = await boards.page(state.spec.id, { status: 'in_progress', after: 0, limit: 1 });
    const [running] = tasks;
    if (running === undefined) return undefined;
    const said = `${nameOf(running)}, which ${await stateOf(state, running)}`;
    return { text: `waits for its turn: this job runs one task at a time, now ${said}`, tasks };
  }

  return async (state: JobState, task: Task): Promise<Why> => {
    const found = isBehindOthers(task)
      ? await behind(state, task)
      : ((await lost(state, task)) ??
        (await behindTheOne(state, task)) ?? { text: await stateOf(state, task), tasks: [] });
    const over =
      isEnded(state.status) && !isTerminal(task.status) ? `; the job has ended (${state.status})` : '';
    const named = [...new Map(found.tasks.map((each) => [each.id, each])).values()].slice(0, NAMED_MOST);
    return withoutAbsent({
      text: `${nameOf(task)} ${found.text}${over}`,
      readiness: task.readiness,
      because: named.map(({ id, title, status, failure }) =>
        withoutAbsent({ taskId: id, title, status, class: failure?.class }),
      ),
    });
  };
}
