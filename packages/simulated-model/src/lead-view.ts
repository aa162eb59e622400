import { z } from 'zod';
import { type Conversation, CountsSeen, callsOf, type Exchange, parseAs, toldBlock } from './conversation.ts';

const TaskLine = z.looseObject({
  taskId: z.string(),
  key: z.string().optional().catch(undefined),
  status: z.string().catch(''),
});

const BoardAnswer = z.looseObject({
  counts: CountsSeen.optional().catch(undefined),
  tasks: z.array(TaskLine).catch([]),
  nextCursor: z.string().optional().catch(undefined),
});
export type BoardAnswer = z.infer<typeof BoardAnswer>;

const JobSeen = z.looseObject({ workspace: z.boolean().optional().catch(undefined) });
const Created = z.looseObject({ created: z.record(z.string(), z.string()).catch({}) });
const Ops = z.array(z.looseObject({ key: z.string().optional() })).catch([]);

/** Returns what a board tool answered (`board_list`, `board_wait`, `finish_job`); null when it is unreadable. */
export function boardAnswer(exchange: Exchange): BoardAnswer | null {
  return exchange.isError ? null : parseAs(BoardAnswer, exchange.result);
}

/** How many tasks are not settled, or null when no count is known. */
export function openTasks(answer: BoardAnswer | null): number | null {
  const counts = answer?.counts;
  return counts === undefined ? null : counts.total - counts.completed - counts.failed - counts.cancelled;
}

/** True when nothing runs or can start, and something waits for what was lost. */
export function isStuck({ counts }: BoardAnswer): boolean {
  if (counts === undefined) return false;
  const moving =
    counts.in_progress + counts.in_review + counts.blocked + counts.ready + counts.scheduled + counts.held;
  return moving === 0 && counts.unreachable > 0;
}

/** The file pattern that the goal names, such as `*.txt`; all Markdown files when it names none. */
export function wantedGlob(goal: string): string {
  const token = /(?:^|[\s`"'(])((?:[\w.@{},[\]-]|\*|\?(?=[\w.*])|\/)*\*(?:[\w.@{},[\]*?-]|\/)*)/.exec(
    goal,
  )?.[1];
  const glob = token?.replace(/(?<![.,;:?])[.,;:?]+$/, '') ?? '';
  // A lone star or pair of stars is emphasis or a bullet, not a pattern.
  if (!/[\w]/.test(glob) || /^\*+[^*./]+\*+$/.test(glob)) return '**/*.md';
  return glob.includes('/') ? glob : `**/${glob}`;
}

/** What the lead has found out so far. */
export interface LeadView {
  glob: string;
  canLook: boolean;
  /** Paths of the workspace, or null when it has not looked. */
  files: string[] | null;
  /** How many files the last look counted but did not name, as its answer was cut. */
  unlisted: number;
  /** The first full look at the board, or null. */
  firstBoard: BoardAnswer | null;
  /** The most tasks that the board was seen to have. */
  tasksSeen: number;
  /** Keys that accepted plans have added, with their task IDs where they were told. */
  planned: Map<string, string | undefined>;
}

/** How many entries the first line of a listing counts, whether it names them or not. */
function entryCount(result: string): number {
  const [line = ''] = result.split('\n', 1);
  const counts = /^([\d,]+) files?(?: · ([\d,]+) (?:link or other entry|links and other entries))?/.exec(
    line,
  );
  return [counts?.[1], counts?.[2]].reduce((sum, text) => sum + Number(text?.replaceAll(',', '') ?? 0), 0);
}

interface Listed {
  path: string;
  /** False for a link to a folder: the files in it stand in the list themselves. */
  isPage: boolean;
}

/**
 * The entries that a listing names. What can't be read, such as a link that leads out, is a page like any other: its
 * task fails and says why, so that nothing is passed over in silence.
 */
function entriesIn(result: string): Listed[] {
  return result.split('\n').flatMap((line) => {
    const [name, kind, rest] = line.split('\t');
    if (name === undefined || kind === undefined || rest === undefined) return [];
    const path = name.startsWith('"') ? (parseAs(z.string(), name) ?? name) : name;
    return [{ path, isPage: kind !== 'link' || !rest.endsWith('(a folder in the workspace)') }];
  });
}

const DecisionSeen = z.looseObject({ decision: z.string().catch('') });

/** True when people answered a proposed plan with a no. */
export function isRejectedPlan({ name, isError, result }: Exchange): boolean {
  if (name !== 'submit_plan') return false;
  return isError || parseAs(DecisionSeen, result)?.decision === 'rejected';
}

function plannedKeys(conversation: Conversation): Map<string, string | undefined> {
  const planned = new Map<string, string | undefined>();
  const plans = [
    ...callsOf(conversation, 'board_plan').map((call) => ({ call, list: call.input.ops })),
    ...callsOf(conversation, 'submit_plan').map((call) => ({ call, list: call.input.tasks })),
  ];
  for (const { call, list } of plans) {
    if (call.isError || isRejectedPlan(call)) continue;
    const created = parseAs(Created, call.result)?.created ?? {};
    for (const { key } of Ops.parse(list)) if (key !== undefined) planned.set(key, created[key]);
  }
  return planned;
}

/** Reads the lead's conversation. */
export function readLeadView(conversation: Conversation): LeadView {
  const goal = toldBlock(conversation, 'goal') ?? conversation.told[0] ?? '';
  const job = parseAs(JobSeen, toldBlock(conversation, 'job') ?? '');
  const looks = callsOf(conversation, 'list_files');
  const look = looks.findLast((call) => !call.isError);
  const boards = callsOf(conversation, 'board_list');
  const full = boards.find(({ input, isError }) => !isError && input.label === undefined);
  const counts = [...boards, ...callsOf(conversation, 'board_wait')].map(
    (call) => boardAnswer(call)?.counts?.total ?? 0,
  );
  const listed = entriesIn(look?.result ?? '');
  const pages = listed.flatMap(({ path, isPage }) => (isPage ? [path] : []));
  return {
    glob: wantedGlob(goal),
    canLook: conversation.tools.has('list_files') && job?.workspace !== false,
    files: look === undefined && looks.length <= 1 ? null : pages,
    unlisted: Math.max(0, entryCount(look?.result ?? '') - listed.length),
    // An unreadable answer is a look, too: asking again would bring the same.
    firstBoard: full === undefined ? null : (boardAnswer(full) ?? { tasks: [] }),
    tasksSeen: Math.max(0, ...counts),
    planned: plannedKeys(conversation),
  };
}
