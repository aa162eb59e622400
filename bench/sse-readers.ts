import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { z } from 'zod';

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

const Noted = z.object({ data: z.object({ text: z.string() }) });
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

/** Reads the data of each event as soon as it has come whole: no client's own work is measured. */
async function follow({ url, apiKey, jobId, after, notes }: ReadersOrder): Promise<number[]> {
  const headers = { authorization: `Bearer ${apiKey}`, 'last-event-id': after };
  const sent = request(`${url}/v1/jobs/${jobId}/events?types=task.noted`, { headers, agent: false }).end();
  const [answer]: IncomingMessage[] = await once(sent, 'response');
  if (answer === undefined) throw new Error('no answer');
  answer.setEncoding('utf8');
  const delays: number[] = [];
  let rest = '';
  for await (const piece of answer) {
    const messages = `${rest}${piece}`.split('\n\n');
    rest = messages.pop() ?? '';
    for (const message of messages) {
      const [, data] = /^data: (.*)$/m.exec(message) ?? [];
      if (data !== undefined) delays.push(nowMs() - Number(Noted.parse(JSON.parse(data)).data.text));
    }
    if (delays.length >= notes) break;
  }
  return delays;
}

process.once('message', async (order: ReadersOrder) => {
  openStuck(order);
  const delays = await Promise.all(Array.from({ length: order.readers }, () => follow(order)));
  process.send?.(delays, () => process.exit(0));
});
