import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

/** How one request is treated. */
export type Act = (answer: ServerResponse) => void;

/** A request as it arrived. */
export interface Seen {
  method: string | undefined;
  headers: IncomingHttpHeaders;
  body: string;
  /** On the monotonic clock. */
  atMs: number;
}

/** A server that treats its requests one after the other as told, and the last way for ever. */
export async function scriptedServer(...acts: Act[]) {
  const requests: Seen[] = [];
  const arrivals = new EventEmitter();
  const server = createServer(async (request, answer) => {
    const { method, headers } = request;
    const atMs = performance.now();
    const body = await text(request);
    const act = acts[Math.min(requests.length, acts.length - 1)];
    requests.push({ method, headers, body, atMs });
    arrivals.emit('request');
    if (act === undefined) throw new Error('no act');
    act(answer);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    /** Resolves when so many requests have come. */
    async requestsAre(count: number): Promise<void> {
      while (requests.length < count) await once(arrivals, 'request');
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
