import type { Boards, RerunState } from '@crewboard/board';
import {
  CrewboardError,
  type RerunBody,
  type RerunWhere,
  type Task,
  type TaskStatus,
  TERMINAL_STATUSES,
} from '@crewboard/contracts';
import { personRequest } from './person-request.ts';
import type { RerunCalls } from './service.ts';
import { fitsFilter } from './task-filter.ts';
import { visibleJob } from './visible-job.ts';

/** Tasks that one script reads for the choice. */
const PAGE = 250;
/** How long a call carries its rerun out itself; what is left then goes on by the outbox. */
const CARRY_OUT_MS = 5000;

/** A refusal of how many tasks match advises to list those. */
function withMatches(error: unknown, where: RerunWhere): unknown {
  if (!(error instanceof CrewboardError)) return error;
  const isOfCount = error.extras.path === 'where' || error.extras.path === 'expectCount';
  return isOfCount ? error.with({ next: { call: 'list_tasks', where } }) : error;
}

/** The ended tasks that match, in the order of their numbers; never task 0 nor a rejected proposal. */
async function chosen(
  boards: Boards,
  jobId: string,
  where: RerunWhere,
): Promise<Pick<Task, 'id' | 'version'>[]> {
  const found: Pick<Task, 'id' | 'version' | 'number'>[] = [];
  const statuses: readonly TaskStatus[] = [where.status ?? TERMINAL_STATUSES].flat();
  for (const status of new Set(statuses)) {
    const query = { status, label: where.label, planned: true, limit: PAGE };
    for (let after: number | undefined = 0; after !== undefined; ) {
      const page = await boards.page(jobId, { ...query, after });
      for (const task of page.tasks) {
        if (fitsFilter(task, where)) found.push({ id: task.id, version: task.version, number: task.number });
      }
      after = page.nextAfter;
    }
  }
  return found.sort((a, b) => a.number - b.number);
}

/** How people run many tasks again; see RerunCalls. */
export function rerunService({ boards }: { boards: Boards }): RerunCalls {
  /** Carries the rerun out as far as the time goes; others may do so at once. */
  async function carryOut(jobId: string, begun: RerunState): Promise<RerunState> {
    const until = performance.now() + CARRY_OUT_MS;
    let state = begun;
    while (state.left > 0 && performance.now() < until) state = await boards.rerunSlice(jobId, state.rerun);
    return state;
  }

  return {
    async rerunTasks(scope, jobId, body: RerunBody, idempotencyKey) {
      await visibleJob(boards, scope, jobId);
      const { where, instructions, expectCount } = body;
      const tasks = await chosen(boards, jobId, where);
      // Before and after: a crash between the two leaves a job that is looked after.
      if (tasks.length > 0) await boards.index.addLive(jobId);
      const begun = await boards
        .startRerun(jobId, {
          by: { kind: 'user', id: scope.caller },
          reason: 'rerun by a person',
          instructions,
          tasks,
          expectCount,
          ...personRequest(idempotencyKey, 'rerun', body),
        })
        .catch((error: unknown) => {
          throw withMatches(error, where);
        });
      await boards.index.addLive(jobId);
      const state = await carryOut(jobId, begun);
      const { status } = await boards.job(jobId);
      return { jobId, status, ...state };
    },
  };
}
