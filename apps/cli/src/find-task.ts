import type { Client } from '@crewboard/client';
import { CrewboardError } from '@crewboard/contracts';

const PAGE_TASKS = 100;
const PAGES_MOST = 1000;

/** The ID of the task with this number; the lead's is 0. Lists are in the order of numbers. */
async function findByNumber(client: Client, jobId: string, number: number): Promise<string> {
  if (number === 0) return (await client.jobs.transcript(jobId, { limit: 1 })).taskId;
  let cursor: string | undefined;
  for (let pages = 0; pages < PAGES_MOST; pages++) {
    const page = await client.tasks.list(jobId, {
      limit: PAGE_TASKS,
      ...(cursor === undefined ? {} : { cursor }),
    });
    const found = page.tasks.find((task) => task.number === number);
    if (found !== undefined) return found.id;
    cursor = page.nextCursor;
    if (cursor === undefined) break;
  }
  throw new CrewboardError(
    'not_found',
    `${jobId} has no task ${number}: \`crewboard board ${jobId}\` lists them`,
  );
}

/** Returns the ID of the task that the command line names by ID or number. Throws `not_found` for a number of none. */
export async function findTaskId(client: Client, jobId: string, named: string | number): Promise<string> {
  return typeof named === 'string' ? named : findByNumber(client, jobId, named);
}
