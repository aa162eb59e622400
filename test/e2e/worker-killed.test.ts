import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { JobBody } from '@crewboard/contracts';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Freeze } from '../support/redis-wire.ts';
import { allText, lastResults, type MessagesRequest, offersTool } from '../support/scripted-messages-api.ts';
import { EXAMPLES, openStack, type Stack, type WorkerProcess } from '../support/stack.ts';
import {
  callsByKey,
  callsIn,
  eventsByTask,
  expectHonestCounts,
  type JobRecord,
  journalledRequests,
  leadJournal,
  messagesOf,
  openCalls,
  readRecord,
  whilePolling,
} from './support/job-record.ts';

const example = JobBody.parse(JSON.parse(await readFile(join(EXAMPLES, 'docs-review.json'), 'utf8')));
const folder = join(EXAMPLES, example.workspace?.path ?? '');
const JOB: JobBody = { ...example, workspace: { path: folder } };
const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.md'));
/** One a file, and one that combines them. */
const TASKS = files.length + 1;
const PARALLEL = 8;
/** A record is to be read before the lease of the dead is over: on the embedded server that takes its time. */
const LEASE_MS = inject('redisKind') === 'embedded' ? '6000' : '2000';

const isLead = (request: MessagesRequest) => offersTool(request, 'finish_job');
const isCombine = (request: MessagesRequest) =>
  !isLead(request) && allText(request).includes('Combine the page reviews');

/** A moment in the life of the job: the worker is killed exactly then. */
interface Moment {
  name: string;
  maxParallel?: number;
  /** The worker dies while these model calls wait for their replies. */
  calls?: { matches: (request: MessagesRequest, calls: string[]) => boolean; count: number };
  /** The worker dies at this command to Redis. */
  command?: Freeze;
  /** What Redis holds at that moment; `expect` shows that it is the one meant. */
  shows(record: JobRecord): void;
}

/** The command that completes a task, or the job: its argument is the summary. */
const SUMMARY = /\r\n\{"summary":"/;
const completed = ({ job }: JobRecord) => job.counts.completed;
const lastKind = (record: JobRecord) => leadJournal(record).at(-1)?.kind;

const MOMENTS: Moment[] = [
  {
    name: 'before it claims the lead that it took from the queue',
    command: { words: /\r\nlead:[^\r]+\r\n/, when: 'before' },
    shows: ({ lead }) => expect(lead).toMatchObject({ status: 'pending', attempt: 0 }),
  },
  {
    name: 'in the model call of the first look of the lead',
    calls: { matches: (request) => isLead(request), count: 1 },
    shows: (record) => expect(leadJournal(record).map(({ kind }) => kind)).toEqual(['message']),
  },
  {
    name: 'when the model has sent the plan and the journal does not have it',
    command: { words: /"kind":"reply"[^\r]*"name":"board_plan"/, when: 'before' },
    shows(record) {
      expect(record.tasks).toEqual([]);
      expect(lastKind(record)).toBe('tool.result');
    },
  },
  {
    name: 'when the plan is on the board and its result not in the journal',
    command: { words: /"t_[2-9a-z]{8}","page:/, when: 'after' },
    shows(record) {
      expect(record.tasks).toHaveLength(TASKS);
      expect(openCalls(leadJournal(record))).toEqual(['board_plan']);
    },
  },
  {
    name: 'in the model calls of eight page tasks',
    calls: {
      matches: (request, calls) => calls.includes('board_submit') && !isCombine(request),
      count: PARALLEL,
    },
    shows: ({ job }) => expect(job.counts).toMatchObject({ completed: 0, in_progress: PARALLEL }),
  },
  {
    name: 'when the reply of a page task is journalled and none of its tools has run',
    command: { words: /"kind":"reply"[^\r]*"name":"read_file"/, when: 'after' },
    shows({ tasks, journals }) {
      const open = tasks.map(({ id }) => openCalls(journals.get(id) ?? []));
      expect(open).toContainEqual(['todo_write', 'read_file']);
    },
  },
  {
    name: 'when a page task is completed and nothing dispatched after it',
    maxParallel: 1,
    command: { words: SUMMARY, nth: 3, when: 'after' },
    shows(record) {
      expect(completed(record)).toBe(3);
      expect(record.tasks.filter(({ attempt }) => attempt > 0)).toHaveLength(3);
    },
  },
  {
    name: 'between the last page task and the task that combines them',
    command: { words: SUMMARY, nth: files.length, when: 'after' },
    shows(record) {
      expect(completed(record)).toBe(files.length);
      expect(record.tasks.at(-1)).toMatchObject({ status: 'pending', attempt: 0 });
    },
  },
  {
    name: 'between the last task and the wake of the lead',
    command: { words: SUMMARY, nth: TASKS, when: 'after' },
    shows(record) {
      expect(completed(record)).toBe(TASKS);
      expect(record.lead).toMatchObject({ status: 'pending', attempt: 1 });
    },
  },
  {
    name: 'when the lead has journalled the news and the model not called with it',
    command: { words: /"kind":"tool.result"[^\r]*allSettled/, when: 'after' },
    shows(record) {
      expect(record.lead).toMatchObject({ status: 'in_progress', attempt: 2 });
      expect(lastKind(record)).toBe('tool.result');
    },
  },
  {
    name: 'in the model call of the woken lead',
    calls: {
      matches: (request) =>
        isLead(request) && lastResults(request).some(({ text }) => text.includes('allSettled')),
      count: 1,
    },
    shows: (record) => expect(record.lead).toMatchObject({ status: 'in_progress', attempt: 2 }),
  },
  {
    name: 'in the model call that finishes the job',
    calls: { matches: (_, calls) => calls.includes('finish_job'), count: 1 },
    shows: (record) => expect(openCalls(leadJournal(record))).toEqual([]),
  },
  {
    name: 'when finish_job is in the journal and Redis has not seen its command',
    command: { words: SUMMARY, nth: TASKS + 1, when: 'before' },
    shows(record) {
      expect(openCalls(leadJournal(record))).toEqual(['finish_job']);
      expect(record.job.status).toBe('running');
    },
  },
];

/** Prepares the moment on the worker: `reached` resolves when it is there, `release` lets held calls go. */
function prepare({ calls, command }: Moment, stack: Stack, worker: WorkerProcess) {
  if (command !== undefined) return { reached: worker.wire.freezeAt(command), release() {} };
  if (calls === undefined) throw new Error('a moment needs calls or a command');
  const held = stack.model.hold((request, { content }) => {
    const names = content.filter(({ type }) => type === 'tool_use').map(({ name }) => String(name));
    return calls.matches(request, names);
  });
  return { reached: held.arrived(calls.count), release: held.open };
}

/** Nothing was done twice and nothing was lost. */
function expectWhole(record: JobRecord): void {
  const { job, tasks, lead, events, journals } = record;
  expect(job).toMatchObject({ status: 'succeeded', counts: { total: TASKS, completed: TASKS } });
  expect(tasks.map(({ key }) => key).sort()).toEqual(
    [...files.map((file) => `page:${file}`), 'combine'].sort(),
  );
  const onceEach = Object.fromEntries(
    [...tasks, ...(lead === undefined ? [] : [lead])].map(({ id }) => [id, 1]),
  );
  expect(eventsByTask(record, 'task.completed')).toEqual(onceEach);
  expect(events.filter(({ type }) => type === 'job.succeeded')).toHaveLength(1);
  expect(tasks.every(({ failures }) => failures === 0)).toBe(true);
  for (const entries of journals.values()) {
    const results = entries.flatMap((entry) => (entry.kind === 'tool.result' ? [entry.toolUseId] : []));
    expect(new Set(results).size).toBe(results.length);
  }
  // How often the lead waits depends on time; its first look and its plan do not.
  const once = callsIn(leadJournal(record)).filter((name) => name === 'list_files' || name === 'board_plan');
  expect(once).toEqual(['list_files', 'board_plan']);
}

/** Only calls that were in flight at the kill are repeated: what the journal has was never asked for again. */
function expectNoCallRepeated(record: JobRecord, stack: Stack, first: number, second: WorkerProcess): void {
  const requests = stack.model.requests;
  const journalled = new Set(journalledRequests(record));
  expect(journalledRequests(record)).toHaveLength(journalled.size);
  const answered = new Set<string>();
  for (let number = first; number <= requests.length; number++) {
    const request = requests[number - 1];
    if (request === undefined) continue;
    const messages = messagesOf(request);
    expect(answered, `request ${number} repeats one whose reply is journalled`).not.toContain(messages);
    if (journalled.has(number)) answered.add(messages);
    else
      expect(request.headers.authorization, `the reply to ${number} is lost`).not.toBe(second.authorization);
  }
}

describe('a job whose only worker is killed', () => {
  let stack: Stack;
  /** The one that completed the job before is the next one's victim. */
  let worker: WorkerProcess | undefined;
  let jobId: string | undefined;

  /** The calls of each task's agent in a run that nothing disturbs. */
  let undisturbed: Record<string, string[]>;

  beforeAll(async () => {
    stack = await openStack({
      variables: { CREWBOARD_CONCURRENCY: String(PARALLEL), CREWBOARD_LEASE_MS: LEASE_MS },
    });
    worker = await stack.startWorker();
    const { id } = await stack.client.jobs.submit(JOB);
    expect((await stack.untilEnded(id)).status).toBe('succeeded');
    undisturbed = callsByKey(await readRecord(stack, id));
  }, 120_000);
  afterEach(async () => {
    // What a failed test leaves behind must not keep the next one's worker busy.
    if (jobId !== undefined) await stack.client.jobs.cancel(jobId);
  });
  afterAll(() => stack?.[Symbol.asyncDispose]());

  for (const moment of MOMENTS) {
    it(`goes on whole when it dies ${moment.name}`, { timeout: 120_000 }, async () => {
      const victim = worker ?? (await stack.startWorker());
      worker = undefined;
      const firstRequest = stack.model.requests.length + 1;
      const { reached, release } = prepare(moment, stack, victim);
      const { id } = await stack.client.jobs.submit({
        ...JOB,
        limits: { maxParallel: moment.maxParallel ?? PARALLEL },
      });
      jobId = id;
      const ended = whilePolling(stack.untilEnded(id), async () => {
        const { counts } = await stack.client.jobs.get(id);
        expectHonestCounts(counts);
        expect([0, TASKS]).toContain(counts.total);
      });
      expect(await Promise.race([reached.then(() => 'reached'), ended.then(() => 'ended')])).toBe('reached');
      await victim.kill();
      release();
      moment.shows(await readRecord(stack, id));

      const second = await stack.startWorker();
      worker = second;
      await ended;
      const record = await readRecord(stack, id);
      expectWhole(record);
      expectNoCallRepeated(record, stack, firstRequest, second);
      expect(callsByKey(record)).toEqual(undisturbed);
      expect((await stack.client.jobs.result(id)).output).toMatchObject({ totals: { pages: files.length } });
      expect(stack.model.violations).toEqual([]);
    });
  }
});
