import { setTimeout as wait } from 'node:timers/promises';
import type { BoardEvent, Counts, Job, JournalEntry, Task } from '@crewboard/contracts';
import { expect } from 'vitest';
import type { RecordedRequest } from '../../support/scripted-messages-api.ts';
import type { Stack } from '../../support/stack.ts';

/** All that Redis holds of a job at one moment. */
export interface JobRecord {
  job: Job;
  lead: Task | undefined;
  tasks: Task[];
  events: BoardEvent[];
  /** By task ID, task 0 included. */
  journals: ReadonlyMap<string, readonly JournalEntry[]>;
}

const EVENTS_MOST = 10_000;

/** Reads a job as Redis has it. */
export async function readRecord({ boards, client }: Stack, jobId: string): Promise<JobRecord> {
  const { lead: leadId } = await boards.job(jobId);
  const { tasks } = await boards.page(jobId, { after: 0, limit: 1000, full: true });
  const ids = [...(leadId === undefined ? [] : [leadId]), ...tasks.map(({ id }) => id)];
  const journals = await Promise.all(
    ids.map(async (id) => [id, await boards.readJournal(jobId, id)] as const),
  );
  return {
    job: await client.jobs.get(jobId),
    lead: leadId === undefined ? undefined : await boards.task(jobId, leadId),
    tasks,
    events: await boards.events(jobId, '0-0', EVENTS_MOST),
    journals: new Map(journals),
  };
}

/** The journal of the lead. */
export function leadJournal({ lead, journals }: JobRecord): readonly JournalEntry[] {
  return journals.get(lead?.id ?? '') ?? [];
}

/** The calls of an agent's last reply that have no result in its journal. */
export function openCalls(entries: readonly JournalEntry[]): string[] {
  const last = entries.findLastIndex((entry) => entry.kind === 'reply');
  const reply = entries[last];
  if (reply?.kind !== 'reply') return [];
  const answered = new Set(
    entries.slice(last).flatMap((entry) => (entry.kind === 'tool.result' ? [entry.toolUseId] : [])),
  );
  return reply.content
    .filter((block) => block.type === 'tool_use' && !answered.has(String(block.id)))
    .map((block) => String(block.name));
}

/** How many events of `type` each task has, by task ID. */
export function eventsByTask(
  { events }: Pick<JobRecord, 'events'>,
  type: BoardEvent['type'],
): Record<string, number> {
  const found: Record<string, number> = {};
  for (const event of events) {
    if (event.type === type && event.taskId !== undefined)
      found[event.taskId] = (found[event.taskId] ?? 0) + 1;
  }
  return found;
}

/** Seven counts add up to the total, five to what is pending. */
export function expectHonestCounts(counts: Counts): void {
  const { total, pending, ready, waiting, scheduled, unreachable, held, ...rest } = counts;
  const settled = Object.values(rest).reduce((sum, count) => sum + count, 0);
  expect(pending + settled, JSON.stringify(counts)).toBe(total);
  expect(ready + waiting + scheduled + unreachable + held, JSON.stringify(counts)).toBe(pending);
}

const POLL_MS = 20;

/** Calls `check` again and again until `done` settles; the first error of either is thrown. Answers how often it did. */
export async function whilePolling<T>(
  done: Promise<T>,
  check: () => Promise<void>,
): Promise<{ value: T; polls: number }> {
  let isOver = false;
  const over = done.finally(() => {
    isOver = true;
  });
  // Bounded by `done`, which has a bound of its own.
  const poll = async () => {
    let polls = 0;
    for (; !isOver; polls++) {
      await check();
      await wait(POLL_MS);
    }
    return polls;
  };
  const [value, polls] = await Promise.all([over, poll()]);
  return { value, polls };
}

/** The conversation that a request carries, without its cache marks. */
export function messagesOf({ body }: RecordedRequest): string {
  return JSON.stringify(body.messages, (key, value) => (key === 'cache_control' ? undefined : value));
}

/**
 * The numbers of the requests (from 1, in order of arrival) whose replies stand in a journal: the scripted API names
 * its replies by the number of the request.
 */
export function journalledRequests({ journals }: JobRecord): number[] {
  return [...journals.values()]
    .flat()
    .flatMap((entry) => (entry.kind === 'reply' ? [Number(entry.messageId.replace('msg_', ''))] : []))
    .sort((a, b) => a - b);
}

/** The names of all calls in a journal's replies, in order. */
export function callsIn(entries: readonly JournalEntry[]): string[] {
  return entries.flatMap((entry) =>
    entry.kind === 'reply'
      ? entry.content.filter(({ type }) => type === 'tool_use').map(({ name }) => String(name))
      : [],
  );
}

/** The calls of each task's agent, by the task's key. */
export function callsByKey({ tasks, journals }: JobRecord): Record<string, string[]> {
  return Object.fromEntries(tasks.map(({ id, key }) => [key ?? id, callsIn(journals.get(id) ?? [])]));
}
