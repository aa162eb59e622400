import { once } from 'node:events';
import { createServer } from 'node:net';
import {
  attachSession,
  createRedisCommandExecutor,
  RedisServerState,
  SocketConnectionTransport,
} from 'js-redis-server/core';
import { localUrl } from './redis-state.ts';

/** How the embedded server is reached and stopped. */
export interface EmbeddedRedis {
  url: string;
  stop(): Promise<void>;
}

const COMPATIBILITY = 'redis-7.0';
const DATABASES = 16;

/**
 * Ends the server's keyspace notifications, which nobody here listens to: for them it copies each changed value, a whole
 * hash or stream, at every write, which takes half of its time. It has no option for it.
 */
function endKeyspaceNotifications(state: RedisServerState): void {
  for (const { mutations } of state.databases) {
    const listeners: unknown = Reflect.get(mutations, 'globalListeners');
    if (listeners instanceof Set) listeners.clear();
  }
}

/**
 * Starts the embedded, in-memory Redis in this process on 127.0.0.1:`port` (0: a free one), with `password` if given.
 * It is for a process of its own: its scripts would block everything else.
 *
 * js-redis-server's own listener takes all interfaces and knows no password: anyone in the network could read and
 * write every board. So its parts are put behind a listener of ours.
 */
export async function startEmbeddedRedis(port: number, password: string | undefined): Promise<EmbeddedRedis> {
  const state = new RedisServerState({
    databaseCount: DATABASES,
    compatibility: COMPATIBILITY,
    ...(password === undefined ? {} : { requirepass: password }),
  });
  endKeyspaceNotifications(state);
  const executor = createRedisCommandExecutor({ compatibility: COMPATIBILITY });
  // Without noDelay each command would wait for the other side's delayed acknowledgement (40 ms).
  const server = createServer({ keepAlive: true, noDelay: true }, (socket) => {
    attachSession(new SocketConnectionTransport(socket), {
      state,
      executor,
      clientAddress: `${socket.remoteAddress}:${socket.remotePort}`,
    });
  });
  server.listen({ port, host: '127.0.0.1' });
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('the embedded Redis has no port');
  return {
    url: localUrl(address.port, password),
    // Nothing is kept, so there is nothing to bring to an end.
    stop: async () => process.exit(0),
  };
}
