import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A proxy on loopback that breaks every event stream again and again; everything else passes. */
export interface CuttingProxy extends AsyncDisposable {
  url: string;
  /** How many streams it has broken. */
  cuts(): number;
}

/** Opens a proxy before `target` that breaks an event stream once about `bytes` of it have passed, wherever that is. */
export async function openCuttingProxy(target: string, bytes: number): Promise<CuttingProxy> {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  let cuts = 0;
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    let left = Number.POSITIVE_INFINITY;
    const end = () => {
      near.destroy();
      far.destroy();
      open.delete(near);
    };
    open.add(near);
    near.on('data', (chunk: Buffer) => {
      // One connection serves many requests; what counts is the one under way.
      if (chunk.includes('HTTP/1.1')) {
        left = chunk.includes('text/event-stream') ? bytes : Number.POSITIVE_INFINITY;
      }
      far.write(chunk);
    });
    far.on('data', (chunk: Buffer) => {
      near.write(chunk.subarray(0, left));
      left -= chunk.length;
      if (left > 0) return;
      cuts += 1;
      near.destroySoon();
      far.destroy();
    });
    for (const socket of [near, far]) socket.on('error', end).on('close', end);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    url: `http://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}`,
    cuts: () => cuts,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
