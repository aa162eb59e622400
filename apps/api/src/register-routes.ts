import { Readable } from 'node:stream';
import { CrewboardError } from '@crewboard/contracts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Answer, Route } from './route.ts';
import type { OpenStreams } from './streams.ts';

/** The file's bytes. One that is cut short by `signal` fails, so that nobody takes the part for the whole. */
async function* chunksOf(file: Readable, signal: AbortSignal): AsyncGenerator<Buffer> {
  for await (const chunk of file) {
    signal.throwIfAborted();
    yield chunk;
  }
}

/**
 * Sends a file, which counts as a stream. For a HEAD it is not opened: Fastify takes the empty stream for its body, and
 * leaves the headers.
 */
async function sendBytes(
  { status, headers, open }: Extract<Answer, { kind: 'bytes' }>,
  reply: FastifyReply,
  streams: OpenStreams,
): Promise<FastifyReply> {
  const isWanted = open !== undefined && reply.request.method !== 'HEAD';
  if (!isWanted) return reply.code(status).headers(headers).send(Readable.from([]));
  const slot = { cutsStuck: true, keyId: reply.request.caller?.keyId };
  const file = await open();
  try {
    const body = streams.open(reply.raw, (signal) => chunksOf(file, signal), slot);
    return reply.code(status).headers(headers).send(body);
  } catch (error) {
    file.destroy();
    throw error;
  }
}

async function sendAnswer(
  answer: Answer,
  route: Route,
  reply: FastifyReply,
  streams: OpenStreams,
): Promise<FastifyReply> {
  switch (answer.kind) {
    case 'empty':
      return reply.code(204).send();
    case 'json':
      return reply
        .code(answer.status ?? route.status)
        .type('application/json; charset=utf-8')
        .send(JSON.stringify(answer.value));
    case 'bytes':
      return sendBytes(answer, reply, streams);
    case 'stream': {
      const stream = streams.open(reply.raw, answer.open, {
        cutsStuck: answer.cutsStuck ?? false,
        keyId: reply.request.caller?.keyId,
      });
      return reply.code(route.status).type(answer.contentType).headers(answer.headers).send(stream);
    }
  }
}

/** Makes every other method of a known path answer 405, before any body is read. */
function refuseOtherMethods(app: FastifyInstance, path: string, routes: readonly Route[]): void {
  const allowed = routes.flatMap((route) =>
    route.method === 'GET' && route.streams === undefined ? ['GET', 'HEAD'] : [route.method],
  );
  const refuse = async (request: FastifyRequest, reply: FastifyReply): Promise<never> => {
    void reply.header('Allow', allowed.join(', '));
    const [method = 'GET'] = allowed;
    throw new CrewboardError('method_not_allowed', `This path takes ${allowed.join(', ')} only.`, {
      allowed,
      next: `${method} ${request.raw.url?.split('?', 1)[0]}`,
    });
  };
  app.route({
    method: app.supportedMethods.filter((method) => !allowed.includes(method)),
    url: path,
    exposeHeadRoute: false,
    config: { access: 'any-key' },
    onRequest: refuse,
    handler: refuse,
  });
}

/** Registers the route table on `app`: parse, answer, and refuse what the table does not know. */
export function registerRoutes(app: FastifyInstance, routes: readonly Route[], streams: OpenStreams): void {
  for (const route of routes) {
    app.route({
      method: route.method,
      url: route.path,
      // A HEAD of a stream would have to run it to its end.
      exposeHeadRoute: route.streams === undefined,
      config: { access: route.access, example: route.example, body: route.schemas.body },
      handler: async ({ params, query, headers, body, caller }, reply) =>
        sendAnswer(await route.run({ params, query, headers, body }, caller), route, reply, streams),
    });
  }
  for (const path of new Set(routes.map((route) => route.path))) {
    refuseOtherMethods(
      app,
      path,
      routes.filter((route) => route.path === path),
    );
  }
}
