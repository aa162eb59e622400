import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/**
 * Makes closing `app` drop connections that Node would wait for until their timeout: those that never sent a request,
 * such as a browser's spare ones, do not count as idle; and one whose answer ends after the close has begun, though its
 * client has all of it already, is kept alive for a next request that can't come.
 */
export function dropSilentConnectionsOnClose(app: FastifyInstance): void {
  const silent = new Set<Socket>();
  let isClosing = false;
  app.server.on('connection', (socket: Socket) => {
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  });
  app.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    silent.delete(request.socket);
    response.once('finish', () => {
      if (isClosing) request.socket.end();
    });
  });
  app.addHook('preClose', async () => {
    isClosing = true;
    for (const socket of silent) socket.destroy();
  });
}
