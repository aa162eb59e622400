import { type BoardEvent, newSecret, type TaskStatus } from '@crewboard/contracts';
import { expect, test } from 'vitest';
import { boardsOf } from '../support/boards-of.ts';
import { type LocalStack, openLocalStack } from '../support/local-stack.ts';

const TASKS = 150;
const LOOKS = 6;

interface Known {
  status: TaskStatus;
  version: number;
}

/** All tasks by pages, and the place of the first page. */
async function snapshot({ client }: LocalStack, jobId: string) {
  const known = new Map<string, Known>();
  let after: string | undefined;
  for (let cursor: string | undefined, pages = 0; pages === 0 || cursor !== undefined; pages++) {
    const page = await client.tasks.list(jobId, { limit: 100, ...(cursor === undefined ? {} : { cursor }) });
    after ??= page.asOf;
    for (const { id, status, version } of page.tasks) known.set(id, { status, version });
    cursor = page.nextCursor;
  }
  return { known, after };
}

/** Puts what a stream brings on top of a list. */
async function followOn(events: AsyncIterable<BoardEvent>, known: Map<string, Known>): Promise<void> {
  for await (const { taskId, status, version } of events) {
    if (taskId === undefined || status === undefined || version === undefined) continue;
    if (version >= (known.get(taskId)?.version ?? 0)) known.set(taskId, { status, version });
  }
}

test('lists of tasks and attempts with the stream from their asOf miss nothing that is written meanwhile', async () => {
  await using stack = await openLocalStack({ worker: false });
  const { client } = stack;
  const boards = boardsOf(stack);
  const tasks = Array.from({ length: TASKS }, (_, i) => ({
    key: `k${i}`,
    title: `Task ${i}`,
    executor: 'external' as const,
  }));
  const { id } = await client.jobs.submit({ tasks });
  const watched = (await client.tasks.list(id, { limit: 1 })).tasks[0]?.id ?? '';

  const claim = async (taskId?: string) => {
    const taken = await client.tasks.claim(id, { owner: 'ann', ...(taskId === undefined ? {} : { taskId }) });
    if (taken.task === null) throw new Error('nothing was ready');
    return {
      hold: { jobId: id, taskId: taken.task.id, token: taken.claimToken },
      version: taken.task.version,
    };
  };
  const submit = async ({ hold, version }: Awaited<ReturnType<typeof claim>>) =>
    boards.submit(hold, newSecret(), version, { summary: 'Done.', artifacts: [], evidence: [] });
  const write = async () => {
    // The watched task is given back and taken again all the time, and is the last to end.
    let held = await claim(watched);
    for (let i = 1; i < TASKS; i++) {
      await submit(await claim());
      await boards.release(held.hold, newSecret(), 'again');
      held = await claim(watched);
    }
    await submit(held);
  };

  const writing = write();
  const boardLooks: Promise<Map<string, Known>>[] = [];
  const attemptLooks: Promise<Set<number>>[] = [];
  for (let look = 0; look < LOOKS; look++) {
    const { known, after } = await snapshot(stack, id);
    boardLooks.push(followOn(client.jobs.events(id, { after }), known).then(() => known));
    attemptLooks.push(attemptsOf(stack, id, watched));
  }
  await writing;
  const { known: final } = await snapshot(stack, id);
  expect([...final.values()].map(({ status }) => status)).toEqual(Array(TASKS).fill('completed'));
  for (const look of boardLooks) expect(await look).toEqual(final);
  const all = new Set(Array.from({ length: TASKS }, (_, i) => i + 1));
  for (const look of attemptLooks) expect(await look).toEqual(all);
});

/** The numbers of a task's attempts: the pages of the list, and then what is claimed after it. */
async function attemptsOf({ client }: LocalStack, jobId: string, taskId: string): Promise<Set<number>> {
  const numbers = new Set<number>();
  let after: string | undefined;
  for (let cursor: string | undefined, pages = 0; pages === 0 || cursor !== undefined; pages++) {
    const page = await client.tasks.attempts(jobId, taskId, {
      limit: 100,
      ...(cursor === undefined ? {} : { cursor }),
    });
    after ??= page.asOf;
    for (const { attempt } of page.attempts) numbers.add(attempt);
    cursor = page.nextCursor;
  }
  for await (const event of client.jobs.events(jobId, { after, taskId, types: ['task.claimed'] }))
    if (event.attempt !== undefined) numbers.add(event.attempt);
  return numbers;
}
