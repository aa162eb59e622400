import type { Client } from '@crewboard/client';
import { type BoardEvent, isEnded, type Job, type Task } from '@crewboard/contracts';
import { atMostEvery } from '../at-most-every.ts';
import { rateLine } from '../rate-lines.ts';
import type { Screen } from '../screen.ts';
import { drawFrame } from './frame.ts';
import { boardGroups } from './groups.ts';
import { paceKeeper } from './pace.ts';
import { findLead, type Looked, look } from './view.ts';

const DRAW_MS = 100;
const LOOK_MS = 500;
/** Clocks on the screen go on when nothing happens. */
const TICK_MS = 1000;
/** All tasks are listed again when some were added, no more often than this. */
const LIST_MS = 5000;
const PAGE_TASKS = 100;
/** Larger boards are shown without groups: nobody reads them, and listing costs a call a page. */
const GROUPED_TASKS = 2000;

/** The events after which open tasks are fewer. */
const ENDS: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled']);

/** Reads all tasks of a board that is small enough to be grouped, and the event that the list begins with. */
async function listAll(client: Client, jobId: string, signal: AbortSignal) {
  const tasks: Task[] = [];
  const first = await client.tasks.list(jobId, { limit: PAGE_TASKS }, { signal });
  tasks.push(...first.tasks);
  let cursor = first.nextCursor;
  while (cursor !== undefined && tasks.length < GROUPED_TASKS) {
    const page = await client.tasks.list(jobId, { cursor, limit: PAGE_TASKS }, { signal });
    tasks.push(...page.tasks);
    cursor = page.nextCursor;
  }
  return { tasks, isWhole: cursor === undefined, asOf: first.asOf };
}

/** What is known of a job from its list and its events; `looked` comes from asking again now and then. */
function watchState(looked: Looked) {
  const groups = boardGroups();
  const pace = paceKeeper();
  const state = {
    looked,
    notice: undefined as string | undefined,
    isReconnecting: false,
    /** How far the server's clock is ahead of ours. */
    aheadMs: Number.NEGATIVE_INFINITY,
  };
  const nowMs = () => Date.now() + (Number.isFinite(state.aheadMs) ? state.aheadMs : 0);
  return {
    state,
    take(tasks: readonly Task[], isWhole: boolean) {
      groups.take(isWhole ? tasks : []);
      for (const { endedAt } of tasks) if (endedAt !== undefined) pace.ended(Date.parse(endedAt));
    },
    apply(event: BoardEvent) {
      groups.apply(event);
      const at = Date.parse(event.at);
      // The event that took the shortest way tells the clock best.
      state.aheadMs = Math.max(state.aheadMs, at - Date.now());
      const isLead = event.taskId === state.looked.lead?.id;
      if (!isLead && event.status !== undefined && ENDS.has(event.status)) pace.ended(at);
      if (event.type.startsWith('rate.'))
        state.notice = event.type === 'rate.closed' ? undefined : rateLine(event);
    },
    view() {
      const { counts, pauses } = state.looked.job;
      const open = counts.total - counts.completed - counts.failed - counts.cancelled - counts.unreachable;
      return {
        ...state.looked,
        groups: groups.list(),
        // A job that stands still has no end in sight, and of one that can't be seen nobody knows.
        pace: pauses.length > 0 || state.isReconnecting ? undefined : pace.at(nowMs(), open - counts.blocked),
        notice: state.notice,
        isReconnecting: state.isReconnecting,
        nowMs: nowMs(),
      };
    },
  };
}

/**
 * Draws a job on `screen` until it has ended and returns it then. Goes on over restarts of the server; rejects when
 * that is lost for good, or with the reason of `signal`.
 */
export async function watchJob(
  client: Client,
  jobId: string,
  { screen, hasColour }: { screen: Screen; hasColour: boolean },
  signal: AbortSignal,
): Promise<Job> {
  const leadId = await findLead(client, jobId, signal);
  const listed = await listAll(client, jobId, signal);
  const watch = watchState(await look(client, jobId, leadId, signal));
  watch.take(listed.tasks, listed.isWhole);

  const drawing = atMostEvery(DRAW_MS, async () => {
    const size = { columns: screen.columns(), rows: screen.rows() };
    screen.draw(drawFrame(watch.view(), { ...size, hasColour, hasKeys: screen.hasKeys }));
  });
  const looking = atMostEvery(LOOK_MS, async () => {
    const looked = await look(client, jobId, leadId, signal).catch(() => undefined);
    if (looked === undefined) return looking.request();
    watch.state.looked = looked;
    watch.state.isReconnecting = false;
    drawing.request();
  });
  const listing = atMostEvery(LIST_MS, async () => {
    const again = await listAll(client, jobId, signal).catch(() => undefined);
    if (again === undefined) return listing.request();
    watch.take(again.tasks, again.isWhole);
    drawing.request();
  });
  const tick = setInterval(drawing.request, TICK_MS);
  screen.onResize(drawing.request);
  drawing.request();
  try {
    const events = client.jobs.events(jobId, {
      after: listed.asOf,
      signal,
      onResync: listing.request,
      onReconnect() {
        watch.state.isReconnecting = true;
        drawing.request();
        looking.request();
      },
    });
    for await (const event of events) {
      watch.apply(event);
      if (event.type === 'task.added' || event.type === 'task.edited') listing.request();
      looking.request();
      drawing.request();
    }
  } finally {
    clearInterval(tick);
    await Promise.all([drawing.end(), looking.end(), listing.end()]);
  }
  signal.throwIfAborted();
  return client.jobs.get(jobId, { signal });
}

/** Returns the newest job that has not ended; undefined when all have. */
export async function newestRunning(client: Client): Promise<Job | undefined> {
  const { jobs } = await client.jobs.list({ limit: 100 });
  return jobs.find(({ status }) => !isEnded(status));
}
