import { type Boards, withRerunText } from '@crewboard/board';
import {
  CrewboardError,
  isTerminal,
  type RerunAnswer,
  type RerunBody,
  type RerunWhere,
  type Task,
} from '@crewboard/contracts';
import { linksOf } from './job-view.ts';
import { fitsGlob } from './key-glob.ts';
import { personRequest } from './person-request.ts';
import type { RerunCalls } from './service.ts';
import { visibleJob } from './visible-job.ts';

const PAGE = 100;
/** Instructions of a task, with all that is put below them. */
const INSTRUCTIONS_MOST = 16_384;

function fits(task: Task, where: RerunWhere): boolean {
  if (!isTerminal(task.status)) return false;
  if (where.class !== undefined && task.failure?.class !== where.class) return false;
  return where.key === undefined || (task.key !== undefined && fitsGlob(where.key, task.key));
}

function refuseTooLong(task: Task, text: string): void {
  if (withRerunText(task.instructions, text).length <= INSTRUCTIONS_MOST) return;
  throw new CrewboardError(
    'limit_exceeded',
    `with these instructions those of #${task.number} ${task.id} would be over ${INSTRUCTIONS_MOST} characters. Send shorter ones, or edit the task.`,
    { taskId: task.id, path: 'instructions' },
  );
}

/** Runs ended tasks of a job again; see RerunCalls. */
export function rerunService({ boards }: { boards: Boards }): RerunCalls {
  /** The ended tasks that fit, in plan order, as they are now. */
  async function select(jobId: string, { where, instructions }: RerunBody) {
    const found: { taskId: string; version: number }[] = [];
    const query = {
      status: where.status,
      label: where.label,
      full: instructions !== undefined,
      planned: true,
    };
    for (let after: number | undefined = 0; after !== undefined; ) {
      const page = await boards.page(jobId, { ...query, after, limit: PAGE });
      for (const task of page.tasks) {
        if (!fits(task, where)) continue;
        if (instructions !== undefined) refuseTooLong(task, instructions);
        found.push({ taskId: task.id, version: task.version });
      }
      after = page.nextAfter;
    }
    return found;
  }

  return {
    async rerunTasks(scope, jobId, body, idempotencyKey): Promise<RerunAnswer> {
      await visibleJob(boards, scope, jobId);
      const { instructions, expectCount } = body;
      const tasks = await select(jobId, body);
      // Before and after: a crash between the two leaves a job that is looked after, and a sweep in between takes an
      // ended one off the list.
      await boards.index.addLive(jobId);
      const { count, isExpected } = await boards.rerun(jobId, {
        by: { kind: 'user', id: scope.caller },
        tasks,
        reason: 'rerun by a person',
        instructions,
        expectCount,
        ...personRequest(idempotencyKey, 'rerun', body),
      });
      await boards.index.addLive(jobId);
      if (!isExpected) {
        throw new CrewboardError(
          'stale_version',
          `${count} ended tasks match, and expectCount is ${expectCount}. Nothing was changed. List the tasks, and send the number that is right.`,
          { matched: count, expectCount, next: { call: 'list_tasks' } },
        );
      }
      return { jobId, matched: count, status: (await boards.job(jobId)).status, links: linksOf(jobId) };
    },
  };
}
