import type { Boards, Hold } from '@crewboard/board';
import type { Attempt, BoardEvent, JournalEntry, Task } from '@crewboard/contracts';
import { CARRIED_RESULTS, dependencyResults } from '../board-tools.ts';
import { taskBlock } from './prompt.ts';

/** The task as its model was shown it last: a submit is for that version and no other. */
export interface ShownTask {
  readonly task: Task;
  /** Texts for the model when the task was edited since; it counts as shown from then on. */
  news(): Promise<string[]>;
}

/** Follows what the model was shown, from the claim on. */
export function followShownTask(boards: Boards, hold: Hold, claimed: Task): ShownTask {
  let task = claimed;
  return {
    get task() {
      return task;
    },
    async news() {
      const [now] = await boards.readTasks(hold.jobId, [hold.taskId], true);
      if (now === undefined || now.version === task.version) return [];
      task = now;
      return [`Your task was edited. It is now:\n${taskBlock(now)}`];
    },
  };
}

/** How an attempt goes on with the conversation of the one before it. */
export interface Continuation {
  endedCallAnswer?: string;
  continuation?: string[];
}

/** The answer that a call which ended the last attempt gets now: what people or the lead said, or what it waited for. */
async function answerTo(
  boards: Boards,
  jobId: string,
  task: Task,
  last: Attempt,
  reopenReason: string | undefined,
) {
  if (last.outcome === 'rejected') return { rejected: true, feedback: last.answer ?? '' };
  if (last.outcome === 'blocked') {
    if (last.answer !== undefined) return { answer: last.answer };
    return { waitedFor: await dependencyResults(boards, jobId, task, CARRIED_RESULTS) };
  }
  if (last.outcome === 'completed') return { reopened: true, reason: reopenReason ?? '' };
  return undefined;
}

/**
 * The attempt that had the last word in the conversation: one that was lost before its model said anything, or a call was
 * answered, has gone no further, and what its forerunner waits for is still to be told.
 */
function lastSpeaker(earlier: readonly Attempt[], entries: readonly JournalEntry[]): Attempt | undefined {
  const spoke = entries.findLast(
    ({ kind, attempt: own }) =>
      (kind === 'reply' || kind === 'tool.result') && earlier.some(({ attempt }) => attempt === own),
  );
  return earlier.findLast(({ attempt }) => attempt === spoke?.attempt) ?? earlier.at(-1);
}

/**
 * What the next attempt tells its model when the last one ended without failing; `entries` are the conversation so far.
 */
export async function continuationOf(
  boards: Boards,
  jobId: string,
  task: Task,
  { earlier, entries }: { earlier: readonly Attempt[]; entries: readonly JournalEntry[] },
): Promise<Continuation> {
  const last = lastSpeaker(earlier, entries);
  if (last === undefined) return {};
  const { events: since, isCut } = await boards.taskEventsBack(
    jobId,
    task.id,
    ({ type, attempt }) => type === 'task.claimed' && attempt === last.attempt,
  );
  const reopened = since.findLast(({ type }) => type === 'task.reopened')?.data?.reason;
  const answer = await answerTo(
    boards,
    jobId,
    task,
    last,
    typeof reopened === 'string' ? reopened : undefined,
  );
  // Where the log is too long to tell, the task is shown rather than one that was edited kept back.
  const isNew = ({ type, data }: BoardEvent) =>
    type === 'task.edited' || (type === 'task.reopened' && data?.isTold === true);
  const edited = isCut || since.some(isNew);
  return {
    ...(answer === undefined ? {} : { endedCallAnswer: JSON.stringify(answer) }),
    ...(edited ? { continuation: [`Your task was edited. It is now:\n${taskBlock(task)}`] } : {}),
  };
}
