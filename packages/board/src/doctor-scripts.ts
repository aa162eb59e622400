import { type TaskId, TaskId as TaskIdSchema } from '@crewboard/contracts';
import { z } from 'zod';
import type { BoardIo } from './board-io.ts';
import { parseReply } from './replies.ts';
import { withoutAbsent } from './without-absent.ts';

/** Something on a board that is not as it must be. */
export interface Finding {
  /** What was checked, such as `counts` or `unmet`: mostly the key of the board that disagrees. */
  check: string;
  taskId?: TaskId;
  found: string;
  expected: string;
  /** True when it follows from other state, so that it can be put right. */
  repairable: boolean;
  /** True when this run put it right. */
  repaired: boolean;
}

const Findings = z
  .array(z.tuple([z.string(), z.string(), z.string(), z.string(), z.number(), z.number()]))
  .transform((rows) =>
    rows.map(([check, taskId, found, expected, repairable, repaired]): Finding => {
      const isTask = TaskIdSchema.safeParse(taskId).success;
      return withoutAbsent({
        check,
        ...(isTask ? { taskId } : {}),
        found: isTask || taskId === '' ? found : `${found} (${taskId})`,
        expected,
        repairable: repairable === 1,
        repaired: repaired === 1,
      });
    }),
  );

const BeginReply = z.union([
  z.tuple([z.literal('ok'), z.string(), z.number(), z.number()]),
  z.tuple([z.literal('format'), z.string(), z.number()]),
]);
const StoredTask = z
  .tuple([
    z.string(),
    z.number(),
    z.number(),
    z.number(),
    z.string(),
    z.string(),
    z.string(),
    z.number(),
    z.string(),
    z.number(),
    z.number(),
  ])
  .transform(([id, version, code, attempt, owner, outcome, deps, unmet, edges, edgesFrom, suspect]) => ({
    id,
    version,
    code,
    attempt,
    owner,
    outcome,
    deps,
    unmet,
    edges,
    edgesFrom,
    isSuspect: suspect === 1,
  }));
const TasksReply = z.tuple([z.literal('ok'), Findings, z.array(StoredTask), z.number(), z.string()]);
const EdgesReply = z.tuple([z.literal('ok'), Findings, z.string(), z.number()]);
const LinksReply = z.tuple([z.literal('ok'), Findings]);
const MembersReply = z.tuple([z.literal('ok'), Findings, z.number()]);
const FieldsReply = z.tuple([z.literal('ok'), Findings, z.string()]);
const Lead = z.union([
  z
    .array(z.never())
    .length(0)
    .transform(() => undefined),
  z
    .tuple([z.string(), z.number(), z.number(), z.number(), z.string(), z.string()])
    .transform(([id, version, code, attempt, owner, outcome]) => ({
      id,
      version,
      code,
      attempt,
      owner,
      outcome,
      deps: '',
    })),
]);
const BoardReply = z.tuple([z.literal('ok'), Findings, z.number(), Lead, z.string(), z.number()]);

const Sums = z.array(z.number());
const SpendReply = z.tuple([
  z.literal('ok'),
  Findings,
  z.string(),
  z.number(),
  Sums,
  z.array(z.tuple([z.string()]).rest(z.number())),
  z.array(z.tuple([z.string(), z.string()]).rest(z.number())),
  z.array(z.tuple([z.string(), z.string(), z.number(), z.number(), z.number()])),
]);

/** Tasks and edges that one script looks at: a few ms each, which the board's users wait for at most. */
const TASKS_MOST = 100;
const EDGES_MOST = 500;
const MEMBERS_MOST = 500;
const FIELDS_ABOUT = 100;

/** The scripts of one run over one board; with `repair` each puts right what it finds, in itself. */
export function doctorScripts(io: BoardIo, jobId: string, repair: boolean) {
  const mend = repair ? 1 : 0;
  return {
    async begin() {
      const reply = parseReply(await io.run(jobId, 'doctor_begin', []), BeginReply);
      if (reply[0] === 'format') return { kind: 'format' as const, found: reply[1], known: reply[2] };
      return { kind: 'ok' as const, status: reply[1], isEnded: reply[2] > 0, isFilled: reply[3] === 1 };
    },
    async tasks(after: number) {
      const args = [mend, after, TASKS_MOST, EDGES_MOST];
      const reply = parseReply(await io.run(jobId, 'doctor_tasks', args), TasksReply);
      return { findings: reply[1], tasks: reply[2], last: reply[3], asOf: reply[4] };
    },
    async edges(taskId: string, start: number) {
      const args = [mend, taskId, start, EDGES_MOST];
      const reply = parseReply(await io.run(jobId, 'doctor_edges', args), EdgesReply);
      return { findings: reply[1], edges: reply[2], next: reply[3] };
    },
    async links(taskId: string) {
      return parseReply(await io.run(jobId, 'doctor_links', [mend, taskId]), LinksReply)[1];
    },
    async members(set: 'index' | 'window' | 'lease' | 'due', start: number) {
      const args = [mend, set, start, MEMBERS_MOST];
      const reply = parseReply(await io.run(jobId, 'doctor_members', args), MembersReply);
      return { findings: reply[1], next: reply[2] };
    },
    async fields(hash: HashOfTasks, cursor: string) {
      const args = [mend, hash, cursor, FIELDS_ABOUT];
      const reply = parseReply(await io.run(jobId, 'doctor_fields', args), FieldsReply);
      return { findings: reply[1], cursor: reply[2] };
    },
    async spend(cursor: string) {
      const args = [mend, cursor, FIELDS_ABOUT];
      const reply = parseReply(await io.run(jobId, 'doctor_spend', args), SpendReply);
      const [, findings, next, changes, job, tasks, attempts, calls] = reply;
      return { findings, cursor: next, changes, job, tasks, attempts, calls };
    },
    async board(outboxMs: number) {
      const reply = parseReply(await io.run(jobId, 'doctor_board', [mend, outboxMs]), BoardReply);
      return { findings: reply[1], outbox: reply[2], lead: reply[3], asOf: reply[4], endedAgoMs: reply[5] };
    },
  };
}

export type DoctorScripts = ReturnType<typeof doctorScripts>;

/** The hashes whose fields name tasks. */
export const HASHES_OF_TASKS = [
  'hot',
  'head',
  'body',
  'outcome',
  'output',
  'deps',
  'edges',
  'unmet',
  'replaces',
  'keys',
  'attempts',
  'repeats',
  'usage',
  'progress',
  'runners',
  'journals',
] as const;
type HashOfTasks = (typeof HASHES_OF_TASKS)[number];
