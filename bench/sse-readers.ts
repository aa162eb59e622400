import { connect } from 'node:net';
import { createClient } from '@crewboard/client';

/**
 * Readers of one job's events in a process of their own, so that the server is not measured by their work. Told over IPC
 * what to follow, they answer the delays of all notes in ms, a list for each reader: from the time that stands in the
 * note to when the event was parsed, by the machine's monotonic clock. One more reader opens a stream and never reads.
 */
export interface ReadersOrder {
  url: string;
  apiKey: string;
  jobId: string;
  after: string;
  /** That read. */
  readers: number;
  /** Notes to come. */
  notes: number;
}

const nowMs = () => Number(process.hrtime.bigint()) / 1e6;

/** Opens a stream by hand and takes nothing from its socket. */
function openStuck({ url, apiKey, jobId, after }: ReadersOrder): void {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.pause();
  socket.write(
    `GET /v1/jobs/${jobId}/events?after=${after} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${apiKey}\r\n\r\n`,
  );
}

async function follow({ url, apiKey, jobId, after, notes }: ReadersOrder): Promise<number[]> {
  const client = createClient({ baseUrl: url, apiKey });
  const delays: number[] = [];
  for await (const event of client.jobs.events(jobId, { after })) {
    if (event.type !== 'task.noted') continue;
    delays.push(nowMs() - Number(event.data?.text));
    if (delays.length === notes) break;
  }
  return delays;
}

process.once('message', async (order: ReadersOrder) => {
  openStuck(order);
  const delays = await Promise.all(Array.from({ length: order.readers }, () => follow(order)));
  process.send?.(delays, () => process.exit(0));
});
