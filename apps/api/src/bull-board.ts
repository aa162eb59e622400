import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { FastifyAdapter } from '@bull-board/fastify';
import type { Queue } from 'bullmq';
import type { FastifyInstance } from 'fastify';
import { toCrewboardError } from './problem.ts';

export const BULL_BOARD_PATH = '/admin/queues';

/** Its page has one inline style and draws with inline styles; nothing comes from elsewhere. */
const PAGE_POLICY = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "base-uri 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** Takes out what the page links to on other hosts: its web fonts, which the policy would block with an error. */
function withoutForeignLinks(html: string): string {
  return html.replace(/<link\b[^>]*\bhref="(?:https?:)?\/\/[^>]*>\s*/gi, '');
}

/**
 * Mounts Bull Board over `queues` at {@link BULL_BOARD_PATH}. Its routes name no access, so the guard keeps
 * them for operators.
 */
export function mountBullBoard(app: FastifyInstance, queues: readonly Queue[], bodyLimitBytes: number): void {
  const adapter = new FastifyAdapter();
  adapter.setBasePath(BULL_BOARD_PATH);
  createBullBoard({
    queues: queues.map((queue) => new BullMQAdapter(queue, { delimiter: '.' })),
    serverAdapter: adapter,
    options: { uiConfig: { boardTitle: 'Crewboard queues', hideDocsLink: true } },
  });
  // Bull Board would answer with the error's own message; only what the API says itself may leave.
  adapter.setErrorHandler((error) => {
    const problem = toCrewboardError(error, { bodyLimitBytes, requestId: 'bull-board' });
    if (problem.code === 'unavailable') app.log.error({ err: error }, 'bull board request failed');
    return {
      status: problem.code === 'unavailable' ? 500 : 400,
      body: { error: { key: 'ERRORS.INTERNAL_SERVER_ERROR' }, message: problem.detail },
    };
  });
  app.register(
    async (scope) => {
      scope.addHook('onRequest', async (_request, reply) => {
        void reply.header('Content-Security-Policy', PAGE_POLICY);
      });
      scope.addHook('onSend', async (_request, reply, payload) => {
        const isPage = String(reply.getHeader('content-type')).startsWith('text/html');
        return isPage && typeof payload === 'string' ? withoutForeignLinks(payload) : payload;
      });
      await scope.register(adapter.registerPlugin());
    },
    { prefix: BULL_BOARD_PATH },
  );
}
