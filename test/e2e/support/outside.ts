import type { Boards } from '@crewboard/board';
import { Claim, type CrewboardError, type JobBody, type NewTask, type Task } from '@crewboard/contracts';
import { boardsOf } from '../../support/boards-of.ts';
import { type LocalStack, type LocalStackOptions, openLocalStack } from '../../support/local-stack.ts';

/** A job whose tasks are for holders outside, on a stack without workers, and the moves that tests begin with. */
export interface OutsideJob extends AsyncDisposable {
  stack: LocalStack;
  jobId: string;
  /** The board itself, over a connection of its own. */
  boards: Boards;
  /** A task's ID by its key. */
  id(key: string): string;
  task(key: string): Promise<Task>;
  /** Claims by key; throws when there is nothing to claim. */
  claim(key: string, owner?: string | { kind: 'human'; id: string }, leaseMs?: number): Promise<Claim>;
  /** Claims and completes. */
  complete(key: string, summary?: string): Promise<void>;
}

/** Submits the tasks, each for an external holder unless it says otherwise. */
export async function openOutsideJob(
  tasks: readonly NewTask[],
  options: LocalStackOptions & { body?: Partial<JobBody> } = {},
): Promise<OutsideJob> {
  const stack = await openLocalStack({ worker: false, ...options });
  const boards = boardsOf(stack);
  const { id: jobId } = await stack.client.jobs.submit({
    ...options.body,
    tasks: tasks.map((task) => ({ executor: 'external' as const, ...task })),
  });
  const ids = new Map<string, string>();
  for (const task of (await stack.client.tasks.list(jobId, { limit: 100 })).tasks) {
    ids.set(task.key ?? task.title, task.id);
  }
  const id = (key: string) => ids.get(key) ?? `no task ${key}`;
  const claim: OutsideJob['claim'] = async (key, owner = 'bob', leaseMs) =>
    Claim.parse(
      await stack.client.tasks.claim(jobId, {
        taskId: id(key),
        owner,
        ...(leaseMs === undefined ? {} : { leaseMs }),
      }),
    );
  return {
    stack,
    jobId,
    boards,
    id,
    task: (key) => stack.client.tasks.get(jobId, id(key)),
    claim,
    async complete(key, summary = `${key} is done`) {
      const { claimToken, task } = await claim(key);
      await stack.client.tasks.submit(jobId, task.id, { claimToken, version: task.version, summary });
    },
    [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose](),
  };
}

/** The refusal that a call ends with; throws when it succeeds. */
export async function refusalOf(call: Promise<unknown>): Promise<CrewboardError> {
  return call.then(
    (answer) => Promise.reject(new Error(`not refused: ${JSON.stringify(answer)}`)),
    (error: CrewboardError) => error,
  );
}
