import type { Client } from '@crewboard/client';
import type { Job, Task } from '@crewboard/contracts';
import { taskLines } from './watch/task-lines.ts';

/** Of those that failed; a board of thousands can fail as a whole. */
const SHOWN_MOST = 10;
/** As wide as lines are where no terminal says. */
const PIPE_COLUMNS = 160;

/** Reads the first tasks of a job that failed; none where none did. */
export async function readFailed(client: Client, { id, counts }: Job, signal: AbortSignal): Promise<Task[]> {
  if (counts.failed === 0) return [];
  const page = await client.tasks.list(id, { status: 'failed', limit: SHOWN_MOST }, { signal });
  return page.tasks;
}

/** The failed tasks of an ended job, each with its class and reason, a line each, and how many more there are. */
export function showFailed({ id, counts }: Job, failed: readonly Task[], columns = PIPE_COLUMNS): string {
  const more = counts.failed - failed.length;
  const rest = more > 0 ? [`  and ${more} more: \`crewboard board ${id} --by status\``] : [];
  return ['Failed:', ...taskLines(failed, Date.now(), columns), ...rest].join('\n');
}

/** The commands to go on with after a job that did not succeed, a line each; undefined where nothing failed. */
export function nextCommands({ id, status, counts }: Job, failed: readonly Task[]): string | undefined {
  if (status !== 'failed' && counts.failed === 0) return undefined;
  const [first] = failed;
  if (first === undefined) return `Why: \`crewboard why ${id}\``;
  return `Why: \`crewboard why ${id} ${first.number}\`\nRun again: \`crewboard rerun ${id} --status failed\``;
}
