import { CrewboardError } from '@crewboard/contracts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Access } from './access.ts';

/**
 * Makes every method of a path but those `allowed` answer 405, before any body is read. `access`: who is told so; a path
 * for everybody tells everybody, as no key would help.
 */
export function refuseOtherMethods(
  app: FastifyInstance,
  path: string,
  allowed: readonly string[],
  access: Extract<Access, 'public' | 'any-key'>,
): void {
  const refuse = async (request: FastifyRequest, reply: FastifyReply): Promise<never> => {
    void reply.header('Allow', allowed.join(', '));
    const [first = 'GET'] = allowed;
    // What only reads, where there is such a method: it can be sent as it stands.
    const method = allowed.includes('GET') ? 'GET' : first;
    throw new CrewboardError('method_not_allowed', `This path takes ${allowed.join(', ')} only.`, {
      allowed: [...allowed],
      next: `${method} ${request.raw.url?.split('?', 1)[0]}`,
    });
  };
  app.route({
    method: app.supportedMethods.filter((method) => !allowed.includes(method)),
    url: path,
    exposeHeadRoute: false,
    config: { access },
    onRequest: refuse,
    handler: refuse,
  });
}
