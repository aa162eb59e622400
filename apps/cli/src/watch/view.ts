import type { Client } from '@crewboard/client';
import type { Job, Task, TaskStatus } from '@crewboard/contracts';
import type { Group } from './groups.ts';
import type { Pace } from './pace.ts';

/** What the server says of a job at one time. */
export interface Looked {
  job: Job;
  lead: Task | undefined;
  /** The first ones of each kind: as many as a screen may hold. */
  running: readonly Task[];
  /** Blocked, in review, failed: what people look at first. */
  troubled: readonly Task[];
}

/** All that is drawn of a job. */
export interface WatchView extends Looked {
  groups: readonly Group[];
  pace: Pace | undefined;
  /** That calls are held back, and the like. */
  notice: string | undefined;
  isReconnecting: boolean;
  /** Now, by the server's clock. */
  nowMs: number;
}

const TASKS_A_LIST = 50;
const TROUBLES = ['blocked', 'in_review', 'failed'] as const satisfies readonly TaskStatus[];

/** Returns the ID of a job's lead; undefined when it has none. */
export async function findLead(
  client: Client,
  jobId: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const page = await client.jobs.transcript(jobId, { limit: 1 }, { signal }).catch(() => undefined);
  return page?.taskId;
}

/** Reads what is drawn, in at most six calls. Rejects when the server is away. */
export async function look(
  client: Client,
  jobId: string,
  leadId: string | undefined,
  signal: AbortSignal,
): Promise<Looked> {
  const job = await client.jobs.get(jobId, { signal });
  const list = async (status: TaskStatus) => {
    if (job.counts[status] === 0) return [];
    const page = await client.tasks.list(jobId, { status, limit: TASKS_A_LIST }, { signal });
    return page.tasks;
  };
  const [lead, running, ...troubled] = await Promise.all([
    leadId === undefined ? undefined : client.tasks.get(jobId, leadId, { signal }),
    list('in_progress'),
    ...TROUBLES.map(list),
  ]);
  return { job, lead, running, troubled: troubled.flat() };
}
