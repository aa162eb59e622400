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
    // What only reads can be sent as it stands, and no other method is advised: it may be one that revokes or cancels.
    const reads = `GET ${request.raw.url?.split('?', 1)[0]}`;
    throw new CrewboardError('method_not_allowed', `This path takes ${allowed.join(', ')} only.`, {
      allowed: [...allowed],
      next: allowed.includes('GET') ? reads : { call: path.startsWith('/v1/jobs/:id') ? 'read_job' : 'list' },
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

/** The methods that some path takes. */
const METHODS = ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'];

/** Answers 405 to a method that no path takes, such as PROPFIND. */
export function refuseUnknownMethod(request: FastifyRequest, reply: FastifyReply): never {
  void reply.header('Allow', METHODS.join(', '));
  throw new CrewboardError('method_not_allowed', `No path takes ${request.method}.`, {
    allowed: METHODS,
    next: { call: 'list' },
  });
}
