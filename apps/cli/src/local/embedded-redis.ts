import { Server } from 'node:net';
import { createRedisServer } from 'js-redis-server';

/** How the embedded server is stopped. */
export interface EmbeddedRedis {
  url: string;
  stop(): Promise<void>;
}

/**
 * Runs `start` while every TCP server of this process that is told to listen on a bare port listens on 127.0.0.1
 * instead of all interfaces, with TCP_NODELAY on its connections.
 *
 * js-redis-server takes no host and sets no such option; without this, anyone in the network could read and write
 * every board, and each command would wait for the other side's delayed acknowledgement (40 ms).
 */
async function onLoopbackOnly<T>(start: () => Promise<T>): Promise<T> {
  const { listen } = Server.prototype;
  Server.prototype.listen = function listenOnLoopback(this: Server, ...args: unknown[]): Server {
    const [port] = args;
    if (typeof port !== 'number')
      throw new TypeError('the embedded Redis listens in a way that is not known');
    this.on('connection', (socket) => socket.setNoDelay(true));
    return listen.call(this, { port, host: '127.0.0.1' });
  };
  try {
    return await start();
  } finally {
    Server.prototype.listen = listen;
  }
}

/**
 * Starts the embedded, in-memory Redis in this process on 127.0.0.1:`port`. It is for a process of its own: its
 * scripts would block everything else.
 */
export async function startEmbeddedRedis(port: number): Promise<EmbeddedRedis> {
  const server = await onLoopbackOnly(() => createRedisServer({ port, compatibility: 'redis-7.0' }));
  return {
    url: `redis://127.0.0.1:${server.port}`,
    // Its close() waits for every client to leave. Nothing is kept anyway, so the process just ends.
    stop: async () => process.exit(0),
  };
}
