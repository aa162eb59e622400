import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/** The Messages API's own bound of a request. */
export const MAX_BODY_BYTES = 32 * 1024 * 1024;

export interface LoopbackServer {
  url: string;
  port: number;
  /** Closes the port and every open connection. */
  stop(): Promise<void>;
}

/**
 * Serves `handle` over HTTP. `port` 0 takes a free one. Rejects when the port is taken. A request whose
 * handler rejects loses its connection: a handler answers its own errors.
 */
export async function serveLoopback(
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
  { host = '127.0.0.1', port = 0 }: { host?: '127.0.0.1'; port?: number } = {},
): Promise<LoopbackServer> {
  const server = createServer((request, response) => {
    // A client may go away at any time; what is written then is of no use to anybody.
    response.on('error', () => response.destroy());
    handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no TCP port');
  return {
    url: `http://${host}:${address.port}`,
    port: address.port,
    async stop() {
      if (!server.listening) return;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Reads a whole request body; null when it is over {@link MAX_BODY_BYTES}. */
export async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    const part = Buffer.from(chunk);
    bytes += part.length;
    if (bytes > MAX_BODY_BYTES) return null;
    chunks.push(part);
  }
  return Buffer.concat(chunks);
}

/** Answers with a JSON body. */
export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
