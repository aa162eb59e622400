import type { Boards, JobState } from '@crewboard/board';
import { isoTime, shownLine, type Task } from '@crewboard/contracts';
import { planWait } from './plan-wait.ts';
import { checksStandstill, taskStandstill } from './standstill.ts';
import type { ServedBy } from './worker-registry.ts';

/** Of one text of others inside the line, in columns. */
const QUOTED_MOST = 300;
const TITLE_MOST = 80;

const because = (text: string | undefined) =>
  text === undefined || text.trim() === '' ? '' : `: ${shownLine(text, QUOTED_MOST)}`;

/** A number of tasks in words. */
export function tasksText(count: number): string {
  return count === 1 ? '1 task' : `${count} tasks`;
}

/** A task as one line names it. */
export function nameOf(task: Task): string {
  return task.number === 0 ? 'the lead' : `#${task.number} "${shownLine(task.title, TITLE_MOST)}"`;
}

function blocked({ block }: Task): string {
  const question =
    block?.question === undefined ? '' : ` (question: ${shownLine(block.question, QUOTED_MOST)})`;
  return `is blocked (${block?.kind})${because(block?.reason)}${question}`;
}

/**
 * Makes the function that puts the state of one task into words, as what follows its name: who holds it, what it needs,
 * how it ended.
 */
export function taskState(boards: Boards, servedBy: ServedBy) {
  /** How long ago the holder was heard of: what has run off its lease. */
  async function heardOf(jobId: string, { id, leaseUntil }: Task): Promise<string> {
    if (leaseUntil === undefined) return 'without a lease';
    const { leaseMs, now } = await boards.leaseOf(jobId, id);
    const leftMs = Date.parse(leaseUntil) - now;
    const agoS = Math.max(0, Math.round((leaseMs - leftMs) / 1000));
    const left = leftMs > 0 ? `its lease ends in ${Math.round(leftMs / 1000)} s` : 'its lease is over';
    return `last heartbeat ${agoS} s ago, ${left}`;
  }

  async function heldBy(jobId: string, task: Task): Promise<string> {
    const who =
      task.owner === undefined ? 'somebody' : `${task.owner.kind} "${shownLine(task.owner.id, TITLE_MOST)}"`;
    return `is held by ${who} (attempt ${task.attempt}, ${await heardOf(jobId, task)})`;
  }

  async function inReview({ spec }: JobState, { id }: Task): Promise<string> {
    const review = await boards.reviewOf(spec.id, id);
    switch (review.waitsFor) {
      case 'checks':
        return `is in review: its checks are run by ${review.runner}, since ${isoTime(review.sinceMs)}`;
      case 'runner': {
        const standstill = checksStandstill(await servedBy(spec.provider), spec.provider);
        const last = because(review.problem);
        const now = standstill === undefined ? '' : `${last === '' ? ':' : ';'} ${standstill}`;
        return `is in review: its checks wait for a runner${last}${now}`;
      }
      case 'people':
        return 'is in review: the lead or a person must approve or reject it';
      case 'nothing':
        return 'is in review: it has just been decided';
    }
  }

  async function scheduled(jobId: string, task: Task, at: string): Promise<string> {
    const [last] = task.attempt === 0 ? [] : await boards.attempts(jobId, task.id, task.attempt, 1);
    if (last?.outcome === undefined) return `is scheduled for ${at}`;
    if (last.cause === 'model_down')
      return `waits for its model${because(last.reason)}; that is probed at short intervals, and the task goes on as soon as it answers, else at ${at}`;
    const how = last.class === undefined ? last.outcome : `${last.outcome} (${last.class})`;
    return `is scheduled for ${at}: attempt ${last.attempt} ${how}${because(last.reason)}`;
  }

  async function cancelled(jobId: string, task: Task): Promise<string> {
    const end = await boards.cancelEvent(jobId, task);
    const { reason, text } = end?.data ?? {};
    const why = [reason, text].find((word) => typeof word === 'string');
    return `was cancelled by ${end?.by.id ?? 'somebody'}${because(typeof why === 'string' ? why : undefined)}`;
  }

  /** What a ready task of our own waits for. */
  async function ready({ spec, counts }: JobState, task: Task): Promise<string> {
    const standstill = taskStandstill(await servedBy(spec.provider), spec.provider, task);
    if (standstill !== undefined) return `is ready, but ${standstill}`;
    const atOnce = spec.allowParallelInProgress ? spec.limits.maxParallel : 1;
    return `is ready and waits for a free place (${tasksText(counts.in_progress)} in progress, at most ${atOnce} by agents at once)`;
  }

  /** What stands in the way of a pending task that waits for no other one. */
  async function pending(state: JobState, task: Task): Promise<string> {
    const { readiness } = task;
    switch (readiness?.state) {
      case 'held':
        if (state.status === 'accepting')
          return `is held: the job is not started: POST /v1/jobs/${state.spec.id}/start`;
        if (readiness.cause === 'pause')
          return `is held: the job is paused (${state.reason || state.pauses.join(', ')})`;
        if (readiness.cause === 'proposal')
          return 'is a proposal: the lead or a person must approve or reject it';
        return readiness.cause === 'approval'
          ? `is held: ${await planWait(boards, state)}`
          : 'is held: the budget is used up';
      case 'scheduled':
        return scheduled(state.spec.id, task, readiness.at);
      case 'waiting':
      case 'unreachable':
        return task.number === 0 ? 'waits for news of its board' : 'waits for other tasks';
      default:
        if (task.executor === 'agent' || task.executor === 'command') return ready(state, task);
        return `is ready and waits for ${task.executor === 'human' ? 'a person' : 'an external holder'} to claim it`;
    }
  }

  return async (state: JobState, task: Task): Promise<string> => {
    const jobId = state.spec.id;
    switch (task.status) {
      case 'in_progress':
        return heldBy(jobId, task);
      case 'in_review':
        return inReview(state, task);
      case 'blocked':
        return blocked(task);
      case 'completed':
        return `was completed in attempt ${task.attempt}${because(task.result?.summary)}`;
      case 'failed':
        return `failed (${task.failure?.class})${because(task.failure?.reason)}`;
      case 'cancelled':
        return cancelled(jobId, task);
      case 'pending':
        return pending(state, task);
    }
  };
}
