import { createServer } from 'node:net';

function listen(port: number, host: string): Promise<number> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, exclusive: true }, () => {
      const address = server.address();
      const bound = address === null || typeof address === 'string' ? port : address.port;
      server.close(() => resolve(bound));
    });
  });
}

/** Returns a TCP port of 127.0.0.1 that was free a moment ago. */
export function freePort(): Promise<number> {
  return listen(0, '127.0.0.1');
}

/** True when `port` can be listened on; rejects for other reasons than a taken port (a wrong host, no right). */
export async function isPortFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  try {
    await listen(port, host);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return false;
    throw error;
  }
}
