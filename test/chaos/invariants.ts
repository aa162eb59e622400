import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BoardEvent, Counts, Job, JournalEntry, Task } from '@crewboard/contracts';
import type { ChaosStack } from './stack.ts';

/** Keys of a board that are empty once its job has ended and everything is handed on. */
const EMPTY_AT_THE_END = ['window', 'lease', 'due', 'outbox', 'slices'] as const;
const EVENTS_MOST = 20_000;

const TERMINAL = ['completed', 'failed', 'cancelled'];

function countsFaults(counts: Counts, tasks: readonly Task[]): string[] {
  const faults: string[] = [];
  const { total, pending, ready, waiting, scheduled, unreachable, held, ...settled } = counts;
  const sum = Object.values(settled).reduce((so, count) => so + count, pending);
  if (sum !== total || ready + waiting + scheduled + unreachable + held !== pending)
    faults.push(`counts do not add up: ${JSON.stringify(counts)}`);
  for (const status of [
    'pending',
    'in_progress',
    'in_review',
    'blocked',
    'completed',
    'failed',
    'cancelled',
  ] as const) {
    const real = tasks.filter((task) => task.status === status).length;
    if (real !== counts[status]) faults.push(`${counts[status]} tasks are counted as ${status}, ${real} are`);
  }
  return faults;
}

/** A second accepted result, or more than one end of the job. */
function eventFaults(events: readonly BoardEvent[]): string[] {
  const completed = new Map<string, number>();
  for (const { type, taskId = '' } of events) {
    if (type === 'task.completed') completed.set(taskId, (completed.get(taskId) ?? 0) + 1);
  }
  const doubled = [...completed].filter(([, times]) => times > 1);
  const ends = events.filter(({ type }) => /^job\.(succeeded|partial|failed|cancelled)$/.test(type));
  return [
    ...doubled.map(([taskId, times]) => `${taskId} was completed ${times} times`),
    ...(ends.length === 1 ? [] : [`the job ended ${ends.length} times`]),
  ];
}

/** Spend is never above the cap, and nothing stays reserved. */
function spendFaults({ limits, spend }: Job): string[] {
  const cap = limits.budgetUsd ?? Number.POSITIVE_INFINITY;
  return [
    ...(spend.settledUsd + spend.estimatedUsd > cap
      ? [`spent more than ${cap} USD: ${JSON.stringify(spend)}`]
      : []),
    ...(spend.reservedUsd > 0 ? [`${spend.reservedUsd} USD are still reserved`] : []),
  ];
}

/** Results that a journal holds twice, and calls of the model that it holds twice. */
function journalFaults(taskId: string, entries: readonly JournalEntry[]): string[] {
  const seen = new Set<string>();
  return entries.flatMap((entry) => {
    const name =
      entry.kind === 'tool.result' ? entry.toolUseId : entry.kind === 'reply' ? entry.messageId : undefined;
    if (name === undefined || !seen.has(name)) {
      if (name !== undefined) seen.add(name);
      return [];
    }
    return [`the journal of ${taskId} holds ${name} twice`];
  });
}

/** Each effect wrote its own ID: one that stands there twice happened twice. */
async function effectFaults(workspace: string): Promise<string[]> {
  const text = await readFile(join(workspace, 'effects.log'), 'utf8').catch(() => '');
  const lines = text.split('\n').filter((line) => line !== '');
  return lines
    .filter((line, at) => lines.indexOf(line) !== at)
    .map((line) => `the effect ${line} happened twice`);
}

async function leftOvers({ boards, connection, queues }: ChaosStack, jobId: string): Promise<string[]> {
  const faults: string[] = [];
  for (const name of EMPTY_AT_THE_END) {
    const key = boards.keys.board(jobId, name);
    if ((await connection.exists(key)) === 1 && (await sizeOf(connection, key)) > 0)
      faults.push(`${name} is not empty`);
  }
  for (const queue of queues) {
    // One that a killed worker had in hand is active until BullMQ finds out after a minute; delivered again, it is dropped.
    const jobs = await queue.getJobs(['waiting', 'prioritized', 'delayed', 'failed', 'completed']);
    const own = jobs.filter((job) => job?.data.jobId === jobId);
    if (own.length > 0) faults.push(`${own.length} jobs are left in ${queue.name}`);
  }
  return faults;
}

async function sizeOf(connection: ChaosStack['connection'], key: string): Promise<number> {
  switch (await connection.type(key)) {
    case 'zset':
      return connection.zcard(key);
    case 'stream':
      return connection.xlen(key);
    default:
      return connection.hlen(key);
  }
}

/** What is wrong with a job that has ended; empty when nothing is. What is still being handed on is asked for again. */
export async function brokenInvariants(stack: ChaosStack, jobId: string): Promise<string[]> {
  const { boards, client } = stack;
  const { lead } = await boards.job(jobId);
  const { tasks } = await boards.page(jobId, { after: 0, limit: 1000, full: true });
  const job = await client.jobs.get(jobId);
  const events = await boards.events(jobId, '0-0', EVENTS_MOST);
  const faults = [
    ...countsFaults(job.counts, tasks),
    ...spendFaults(job),
    ...eventFaults(events),
    ...(await effectFaults(stack.workspace)),
  ];
  for (const task of tasks) {
    if (TERMINAL.includes(task.status)) continue;
    const why = await client.tasks.why(jobId, task.id);
    if (why.text === '') faults.push(`${task.id} is ${task.status} and nothing says why`);
  }
  for (const id of [...tasks.map((task) => task.id), ...(lead === undefined ? [] : [lead])]) {
    faults.push(...journalFaults(id, await boards.readJournal(jobId, id)));
  }
  const report = await boards.examine(jobId, {});
  faults.push(...report.findings.map((finding) => `doctor: ${JSON.stringify(finding)}`));
  return [...faults, ...(await leftOvers(stack, jobId))];
}
