import {
  CrewboardError,
  ERROR_STATUS,
  ErrorCode,
  ErrorExtras,
  Problem,
  toProblem,
} from '@crewboard/contracts';
import { z } from 'zod';
import type { Route } from '../route.ts';
import { headersOf } from './headers.ts';

/** Codes that only tools of agents are answered. */
const OF_TOOLS: readonly string[] = ['plan_mode'];

/** When a status comes, in a line. */
const WHEN: Readonly<Record<number, string>> = {
  400: 'The request has another shape than it must have; the problem names the path',
  401: 'No key, or none that is known',
  402: 'The budget of the job is used up',
  403: "The key's role does not allow it, or the page is of another site",
  404: 'There is nothing of that name that the key may see',
  409: 'The state of the job or the task does not allow it now',
  413: 'The body is over the limit',
  415: 'The body is no plain JSON',
  422: 'The request is well formed, and what it asks for is refused',
  429: 'Too many requests of this key; Retry-After says when to come again',
  503: 'Redis can not be reached, or the server has nothing to do this with',
};

const { next: _next, fits: _fits, ...extras } = ErrorExtras.shape;

/** A problem as it goes over the wire: `next` is always a text there. */
export const ShownProblem = z.looseObject({
  ...Problem.shape,
  ...extras,
  next: z.string().optional(),
  retryAfterMs: z.number().optional(),
});

/** The statuses with which a route can refuse. */
export function problemStatuses({ access, method, path, schemas }: Route): number[] {
  if (access === 'public') return [400, 403];
  const hasBody = !(schemas.body instanceof z.ZodUndefined);
  const changes = method !== 'GET';
  return [
    400,
    401,
    403,
    ...(path.includes(':') ? [404] : []),
    ...(changes ? [409, 413, 415] : []),
    ...(changes && hasBody ? [422] : []),
    429,
    503,
  ];
}

/** Headers of problems, with what they say. */
const HEADERS: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { 'WWW-Authenticate': '`Bearer`' },
  429: { 'Retry-After': 'Seconds to wait' },
};

/** The response of a problem with this status. */
export function problemResponse(status: number): object {
  const codes = ErrorCode.options.filter((code) => ERROR_STATUS[code] === status && !OF_TOOLS.includes(code));
  const [first] = codes;
  const when = WHEN[status];
  if (first === undefined || when === undefined)
    throw new Error(`No problem has the status ${status}: see openapi/problems.ts.`);
  const example = toProblem(new CrewboardError(first, `${when}.`), { say: () => undefined });
  return {
    description: `${when} (${codes.map((code) => `\`${code}\``).join(', ')})`,
    ...headersOf(HEADERS[status] ?? {}),
    content: {
      'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' }, example },
    },
  };
}
