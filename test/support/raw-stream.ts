import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { createInterface } from 'node:readline';

export interface RawMessage {
  event: string;
  id: string;
  data: unknown;
}

/** One event stream over a connection of its own, as no client library reads it. */
export interface RawStream extends AsyncDisposable {
  status: number;
  headers: IncomingMessage['headers'];
  /** The next messages with data, at most `most`; without it all, to the end of the stream. */
  take(most?: number): Promise<RawMessage[]>;
  /** Resolves with the next line that begins with `start`. */
  line(start: string): Promise<string>;
  /** Drops the connection. */
  cut(): void;
}

/** Opens the stream at `url` with `headers`. */
export async function openRawStream(url: string, headers: Record<string, string>): Promise<RawStream> {
  const sent = request(url, { headers, agent: false }).end();
  const [answer]: IncomingMessage[] = await once(sent, 'response');
  if (answer === undefined) throw new Error('no answer');
  // A cut connection ends the reading; only what came before it counts.
  answer.on('error', () => {});
  const lines = createInterface(answer)[Symbol.asyncIterator]();
  return {
    status: answer.statusCode ?? 0,
    headers: answer.headers,
    async take(most = Number.POSITIVE_INFINITY) {
      const taken: RawMessage[] = [];
      let message: Partial<Record<string, string>> = {};
      while (taken.length < most) {
        const { done, value: line } = await lines.next();
        if (done) break;
        const [, field = '', value = ''] = /^([^:]*): ?(.*)$/.exec(line) ?? [];
        if (line !== '') message = { ...message, [field]: value };
        else {
          const { event = '', id = '', data } = message;
          if (data !== undefined) taken.push({ event, id, data: JSON.parse(data) });
          message = {};
        }
      }
      return taken;
    },
    async line(start) {
      for (;;) {
        const { done, value } = await lines.next();
        if (done) throw new Error(`the stream ended before a line with ${JSON.stringify(start)}`);
        if (value.startsWith(start)) return value;
      }
    },
    cut: () => answer.destroy(),
    async [Symbol.asyncDispose]() {
      answer.destroy();
    },
  };
}
