import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { refuseOtherMethods } from './other-methods.ts';
import type { Answer, Route } from './route.ts';
import type { OpenStreams } from './streams.ts';

/**
 * The file's bytes. When `signal` cuts it short, or there are less than the `length` that the headers say, it fails: the
 * connection then closes, and nobody takes the part for the whole or waits for the rest.
 */
async function* chunksOf(file: Readable, length: number, signal: AbortSignal): AsyncGenerator<Buffer> {
  let left = length;
  for await (const chunk of file) {
    signal.throwIfAborted();
    left -= chunk.length;
    yield chunk;
  }
  if (left > 0) throw new Error(`A file of the artifact store has ${left} bytes less than its record says.`);
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
    const length = Number(headers['Content-Length']);
    const body = streams.open(reply.raw, (signal) => chunksOf(file, length, signal), slot);
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

/** The headers as a route reads them: of a HEAD no part is asked for, as only a GET has parts (RFC 9110, 14.2). */
function headersFor({ method, headers }: FastifyRequest): FastifyRequest['headers'] {
  if (method !== 'HEAD') return headers;
  const { range: _range, ...others } = headers;
  return others;
}

/** The methods that the routes of one path take. */
const methodsOf = (routes: readonly Route[]) =>
  routes.flatMap((route) =>
    route.method === 'GET' && route.streams === undefined ? ['GET', 'HEAD'] : [route.method],
  );

/** Registers the route table on `app`: parse, answer, and refuse what the table does not know. */
export function registerRoutes(app: FastifyInstance, routes: readonly Route[], streams: OpenStreams): void {
  for (const route of routes) {
    app.route({
      method: route.method,
      url: route.path,
      // A HEAD of a stream would have to run it to its end.
      exposeHeadRoute: route.streams === undefined,
      config: { access: route.access, example: route.example, body: route.schemas.body },
      handler: async (request, reply) => {
        const { params, query, body, caller } = request;
        const answer = await route.run({ params, query, headers: headersFor(request), body }, caller);
        return sendAnswer(answer, route, reply, streams);
      },
    });
  }
  for (const path of new Set(routes.map((route) => route.path))) {
    const own = routes.filter((route) => route.path === path);
    const isPublic = own.every(({ access }) => access === 'public');
    refuseOtherMethods(app, path, methodsOf(own), isPublic ? 'public' : 'any-key');
  }
}
