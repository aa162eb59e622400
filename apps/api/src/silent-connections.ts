import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/**
 * Makes closing `app` drop connections that never sent a request, such as a browser's spare ones: Node does not
 * count them as idle, so the close would wait for them until their timeout.
 */
export function dropSilentConnectionsOnClose(app: FastifyInstance): void {
  const silent = new Set<Socket>();
  app.server.on('connection', (socket: Socket) => {
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  });
  app.server.on('request', (request) => silent.delete(request.socket));
  app.addHook('preClose', async () => {
    for (const socket of silent) socket.destroy();
  });
}
