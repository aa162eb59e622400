import type { ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Proof } from './guard.ts';

/** How long a request may go on after its key was revoked, or its session ended. */
const LOOK_MS = 5000;

/**
 * Makes a revoked key end what it has open, such as event streams: whoever is served for longer is looked up again every
 * `lookMs`. While keys can't be read, what is open stays open.
 */
export function endRevokedRequests(app: FastifyInstance, lookMs: number = LOOK_MS): void {
  /** Two rounds old are those that have been here for at least one interval. */
  const running = new Map<ServerResponse, { proof: Proof; rounds: number }>();

  async function look(response: ServerResponse, proof: Proof): Promise<void> {
    const known = await proof.look().catch((error: unknown) => {
      app.log.warn({ err: error }, 'the key of a running request could not be looked up');
      return 'unknown' as const;
    });
    if (known === undefined) response.destroy();
  }

  app.addHook('onRequest', async ({ proof }, reply) => {
    if (proof === undefined) return;
    running.set(reply.raw, { proof, rounds: 0 });
    reply.raw.once('close', () => running.delete(reply.raw));
  });
  const timer = setInterval(() => {
    for (const [response, entry] of running) {
      entry.rounds += 1;
      if (entry.rounds > 1) void look(response, entry.proof);
    }
  }, lookMs);
  timer.unref();
  app.addHook('onClose', async () => clearInterval(timer));
}
