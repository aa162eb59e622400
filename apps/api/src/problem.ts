import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { ClaimBody, CrewboardError, httpCall, toProblem } from '@crewboard/contracts';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { waitsInVain } from './client-errors.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A valid body of the route. */
    example?: unknown;
    /** What bodies of the route have to fit. */
    body?: z.ZodType;
  }
}

/** The job that the request is about; other paths have an `id` of something else. */
function jobOf(request: FastifyRequest): string | undefined {
  const isOfJob = request.routeOptions.url?.startsWith('/v1/jobs/:id') === true;
  return isOfJob ? parameter(request, 'id') : undefined;
}

/** The value of a path parameter, where the route has it and the router could read it. */
function parameter({ params }: FastifyRequest, name: string): string | undefined {
  if (typeof params !== 'object' || params === null) return undefined;
  const value: unknown = Object.entries(params).find(([key]) => key === name)?.[1];
  return typeof value === 'string' ? value : undefined;
}

const Claimer = z.object({ owner: ClaimBody.shape.owner });

/** Sends `error` in its wire form, `application/problem+json`; what it advises to call next becomes an HTTP call. */
export function sendProblem(
  request: FastifyRequest,
  reply: FastifyReply,
  error: CrewboardError,
): FastifyReply {
  const [path = ''] = (request.raw.url ?? '').split('?', 1);
  const about = {
    method: request.method,
    path,
    jobId: jobOf(request),
    taskId: parameter(request, 'taskId'),
    owner: Claimer.safeParse(request.body).data?.owner,
  };
  const { example, body: schema } = request.routeOptions.config;
  const problem = toProblem(error, {
    say: (next, valid) => httpCall(next, about, valid),
    example,
    ...(example === undefined || schema === undefined ? {} : { refused: { schema, given: request.body } }),
    otherwise: { call: 'read_job' },
  });
  const { retryAfterMs } = error.extras;
  if (typeof retryAfterMs === 'number') void reply.header('Retry-After', Math.ceil(retryAfterMs / 1000));
  return reply.code(problem.status).type('application/problem+json').send(JSON.stringify(problem));
}

function isFastifyError(error: unknown): error is FastifyError {
  return error instanceof Error && 'code' in error && typeof error.code === 'string';
}

/**
 * Returns the error that a caller is told. Fastify's own become codes of the API; what nobody foresaw becomes
 * `unavailable` and shows no internals: `requestId` finds it in the log.
 */
export function toCrewboardError(
  error: unknown,
  context: { bodyLimitBytes: number; requestId: string },
): CrewboardError {
  if (error instanceof CrewboardError) return error;
  if (isFastifyError(error)) {
    switch (error.code) {
      case 'FST_ERR_CTP_BODY_TOO_LARGE':
        return new CrewboardError(
          'payload_too_large',
          `The body is over the limit of ${context.bodyLimitBytes} bytes: send the tasks in several calls, ` +
            'or raise CREWBOARD_BODY_LIMIT.',
          { limitBytes: context.bodyLimitBytes },
        );
      case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
        return new CrewboardError(
          'unsupported_media_type',
          'The body must be JSON: send it with "Content-Type: application/json".',
          { allowed: ['application/json'] },
        );
      case 'FST_ERR_BAD_URL':
      case 'FST_ERR_MAX_PARAM_LENGTH':
        return new CrewboardError('not_found', 'The path names nothing here.', { next: { call: 'list' } });
      case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
        return new CrewboardError('invalid_argument', 'The body is not as long as Content-Length says.');
    }
  }
  return new CrewboardError(
    'unavailable',
    `The server failed at this; its log says why, under request ${context.requestId}. Try again later.`,
    {},
    { cause: error },
  );
}

const DRAIN_BYTES = 64 * 1024 * 1024;
const DRAIN_MS = 5000;

/**
 * Reads the rest of a refused body and throws it away, within bounds, so that a client which is still sending
 * gets to read the answer instead of a connection reset.
 */
async function drain(body: IncomingMessage): Promise<void> {
  if (body.readableEnded || body.destroyed) return;
  const enough = new AbortController();
  const timer = setTimeout(() => enough.abort(), DRAIN_MS);
  let bytes = 0;
  body.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > DRAIN_BYTES) enough.abort();
  });
  // A sender that breaks off has no use for the answer.
  await once(body, 'end', { signal: enough.signal }).catch(() => {});
  clearTimeout(timer);
}

/** True when nobody is there any more who could be answered, and whose request will never be whole. */
const hasGone = ({ complete, destroyed }: IncomingMessage): boolean => destroyed && !complete;

/** Returns the one error handler of the application. */
export function problemHandler(bodyLimitBytes: number) {
  return async (error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const problem = toCrewboardError(error, { bodyLimitBytes, requestId: request.id });
    if (problem.code === 'unavailable') {
      if (hasGone(request.raw))
        request.log.info({ err: error }, 'the client went before it had sent its request');
      else request.log.error({ err: error }, 'request failed');
    }
    if (problem.code === 'payload_too_large') {
      if (waitsInVain(request.raw, bodyLimitBytes)) void reply.header('Connection', 'close');
      else await drain(request.raw);
    }
    return sendProblem(request, reply, problem);
  };
}
