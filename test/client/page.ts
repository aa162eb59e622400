import { type Client, createClient, isCrewboardError, type JobBody } from '@crewboard/client';

/** What the page tells the test of a whole job. */
export interface Told {
  id: string;
  status: string;
  /** ID and type of all events, in order. */
  events: string[];
  /** Status and title of each task's line. */
  lines: string[];
  output: unknown;
  /** What editing the ended job was refused with. */
  refusal: string | undefined;
}

async function refusalOf(client: Client, id: string): Promise<string | undefined> {
  try {
    await client.jobs.edit(id, { version: 1, limits: { maxParallel: 2 } });
    return undefined;
  } catch (error) {
    if (!isCrewboardError(error)) throw error;
    return error.code;
  }
}

/** Runs a whole job and tells how it went. */
export async function runJob(baseUrl: string, apiKey: string, body: JobBody): Promise<Told> {
  const client = createClient({ baseUrl, apiKey });
  const { id } = await client.jobs.submit(body);
  const events: string[] = [];
  for await (const event of client.jobs.events(id)) events.push(`${event.id} ${event.type}`);
  const { status, output } = await client.jobs.wait(id);
  const lines: string[] = [];
  for await (const line of client.jobs.results(id)) lines.push(`${line.status} ${line.title}`);
  return { id, status, events, lines, output, refusal: await refusalOf(client, id) };
}
