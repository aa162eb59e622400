import { type Boards, withoutAbsent } from '@crewboard/board';
import type { BoardEvent, Counts, Task } from '@crewboard/contracts';

/** What one wake shows the lead at most. */
const ENTRIES_MOST = 200;
const BYTES_MOST = 20_000;
/** Events that are looked through for one inbox; what is beyond shows in counts and by board_list. */
const EVENTS_MOST = 20_000;
const PAGE = 1000;

const NEWS_TYPES = new Set([
  'task.completed',
  'task.failed',
  'task.cancelled',
  'task.blocked',
  'task.unreachable',
  'task.proposed',
  'budget.exhausted',
]);
/** Notes that a holder's harness made for the lead. */
const isNoteForLead = (event: BoardEvent) => event.type === 'task.noted' && event.data?.forLead === true;

/** One line of news for the lead. */
export interface NewsEntry {
  task?: string;
  status?: string;
  line: string;
  /** Refs of what it submitted, the first few. */
  artifacts?: string[];
}

/** The lead's inbox: a view of the event log after its cursor. */
export interface Inbox {
  news: NewsEntry[];
  /** News that did not fit: to be seen by board_list. */
  more: number;
  /** IDs of messages of people, whose texts follow before the next model call. */
  messages: string[];
  counts: Counts;
  allSettled: boolean;
  /** The last event looked at: the cursor once this was delivered. */
  cursor: string;
}

function isNews(event: BoardEvent, lead: string): boolean {
  if (event.taskId === lead) return false;
  if (!NEWS_TYPES.has(event.type)) return isNoteForLead(event);
  return event.type !== 'task.failed' || event.status === 'failed';
}

async function newsAfter(boards: Boards, jobId: string, lead: string, cursor: string, asOf: string) {
  const events: BoardEvent[] = [];
  let last = cursor === '' ? '0-0' : cursor;
  let read = 0;
  while (read < EVENTS_MOST) {
    const page = await boards.events(jobId, last, PAGE);
    read += page.length;
    last = page.at(-1)?.id ?? last;
    events.push(...page.filter((event) => isNews(event, lead)));
    if (page.length < PAGE) break;
  }
  // What was not looked through counts as told: counts and board_list show it, and no wake may lag behind for ever.
  return { events, last: read < EVENTS_MOST ? last : asOf };
}

/** Refs that one line of news names. */
const ARTIFACTS_NAMED = 5;

function artifactsOf(task: Task | undefined): string[] | undefined {
  const refs = task?.result?.artifacts ?? [];
  return refs.length === 0 ? undefined : refs.slice(0, ARTIFACTS_NAMED);
}

async function lineOf(boards: Boards, jobId: string, events: readonly BoardEvent[]): Promise<NewsEntry[]> {
  const ids = [...new Set(events.flatMap((event) => event.taskId ?? []))];
  const tasks = new Map(
    (await boards.readTasks(jobId, ids, false)).flatMap((task) => (task ? [[task.id, task]] : [])),
  );
  return events.map((event) => {
    const task = tasks.get(event.taskId ?? '');
    const why = event.data?.reason ?? event.data?.text;
    const reason = typeof why === 'string' ? `: ${why}` : '';
    const title = task === undefined ? '' : ` "${task.title}"`;
    return withoutAbsent({
      task: event.taskId,
      status: event.type === 'task.unreachable' ? 'unreachable' : event.status,
      line: `${event.type}${title}${reason}`.slice(0, 400).toWellFormed(),
      artifacts: event.type === 'task.completed' ? artifactsOf(task) : undefined,
    });
  });
}

/** Reads the inbox of a lead; nothing counts as delivered before its cursor is journalled. */
export async function readInbox(boards: Boards, jobId: string, lead: string): Promise<Inbox> {
  const state = await boards.job(jobId);
  const { events, last } = await newsAfter(boards, jobId, lead, state.cursor, state.asOf);
  const entries = await lineOf(boards, jobId, events.slice(0, ENTRIES_MOST));
  const news: NewsEntry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    bytes += Buffer.byteLength(JSON.stringify(entry)) + 1;
    if (bytes > BYTES_MOST) break;
    news.push(entry);
  }
  const { counts } = state;
  const messages = (await boards.waitingMessages(jobId, lead)).slice(0, ENTRIES_MOST);
  const open = counts.pending + counts.in_progress + counts.in_review + counts.blocked;
  return { news, more: events.length - news.length, messages, counts, allSettled: open === 0, cursor: last };
}

/** The inbox as the lead's model reads it. */
export function inboxShown({ news, more, messages, counts, allSettled }: Inbox) {
  return withoutAbsent({
    news,
    more: more > 0 ? more : undefined,
    messages: messages.length > 0 ? messages : undefined,
    counts,
    allSettled,
  });
}

/** True when there is nothing to tell. */
export function isEmptyInbox({ news, messages }: Inbox): boolean {
  return news.length === 0 && messages.length === 0;
}
