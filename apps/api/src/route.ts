import type { Readable } from 'node:stream';
import { CrewboardError, type NextCall, parseOrThrow, toldIssue } from '@crewboard/contracts';
import { z } from 'zod';
import type { Access, Caller } from './access.ts';

/**
 * What a handler answers: JSON, nothing (204), text that is produced only as fast as the socket takes it, or the bytes
 * of a file.
 */
export type Answer<Value = unknown> =
  | { kind: 'json'; value: Value; status?: number }
  | { kind: 'empty' }
  | {
      kind: 'stream';
      contentType: string;
      headers: Readonly<Record<string, string>>;
      /** A client that takes nothing for long is cut off: it can go on from where it was. */
      cutsStuck?: boolean;
      /** Produces the text. `signal` aborts when the client has gone or the server closes. */
      open: (signal: AbortSignal) => AsyncIterable<string | Buffer>;
    }
  | {
      kind: 'bytes';
      status: 200 | 206 | 304 | 416;
      /** Content type and length among them: a HEAD is answered these alone. */
      headers: Readonly<Record<string, string>>;
      /** Absent: no body. */
      open?: () => Promise<Readable>;
    };

/** Answers with `value`; `status` overrides the route's own. */
export function json<Value>(value: Value, status?: number): Answer<Value> {
  return { kind: 'json', value, ...(status === undefined ? {} : { status }) };
}

/** The four parts of a request. */
export interface RequestParts<Params = unknown, Query = unknown, Headers = unknown, Body = unknown> {
  params: Params;
  query: Query;
  headers: Headers;
  body: Body;
}

interface Described {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** What programs that are made from the OpenAPI document call it; no two have one name. */
  name: string;
  /** Fastify's notation: `/v1/jobs/:id`. */
  path: string;
  summary: string;
  /** Of a success. */
  status: number;
  /** Other statuses of an answer that is no problem; `openapi/answers.ts` says when they come. */
  otherStatuses?: readonly number[];
  /** The answer is no JSON: `openapi/answers.ts` says what it is. A stream needs no such word. */
  notJson?: true;
}

/** One row of the route table, as the server and a later OpenAPI document read it. */
export interface Route extends Described {
  access: Access;
  schemas: { params: z.ZodType; query: z.ZodType; headers: z.ZodType; body: z.ZodType; answer: z.ZodType };
  /** Set where the answer comes as a stream: its content type. */
  streams?: string;
  /** A valid body, where the route takes one. */
  example?: unknown;
  /** Parses the request, or throws `not_found` (path) or `invalid_argument` (the rest), and answers it. */
  run(parts: RequestParts, caller: Caller | undefined): Promise<Answer>;
}

interface Spec<Params, Query, Headers, Body, Value> extends Described {
  params: z.ZodType<Params>;
  query: z.ZodType<Query>;
  headers: z.ZodType<Headers>;
  body: z.ZodType<Body>;
  answer: z.ZodType<Value>;
  streams?: string;
  /** A valid body, told to a caller whose body is refused. */
  example?: unknown;
}

interface GuardedSpec<Params, Query, Headers, Body, Value> extends Spec<Params, Query, Headers, Body, Value> {
  access: Exclude<Access, 'public'>;
  handler: (parts: RequestParts<Params, Query, Headers, Body>, caller: Caller) => Promise<Answer<Value>>;
}

interface PublicSpec<Value> extends Spec<unknown, unknown, unknown, unknown, Value> {
  handler: () => Promise<Answer<Value>>;
}

/** What a route takes that says nothing else: no parameters, no query, no body; spread it into a route. */
export const BARE = {
  params: z.strictObject({}),
  query: z.strictObject({}),
  headers: z.unknown(),
  body: z.undefined(),
  status: 200,
} as const;

/** Where to look for what a part of the path names; what is wrong in it stands in the first list that is right. */
function listAround(part: unknown): NextCall {
  if (part === 'taskId') return { call: 'list_tasks' };
  return part === '*' ? { call: 'list_artifacts' } : { call: 'list' };
}

function parseParts<Params, Query, Headers, Body>(
  spec: Spec<Params, Query, Headers, Body, unknown>,
  raw: RequestParts,
): RequestParts<Params, Query, Headers, Body> {
  const params = spec.params.safeParse(raw.params);
  if (!params.success) {
    // An ID of the wrong shape names nothing, so it is answered like one that is not there.
    const [issue] = params.error.issues;
    const why = issue === undefined ? '' : `: ${toldIssue(issue, raw.params).text}`;
    throw new CrewboardError('not_found', `The path names nothing here${why}.`, {
      next: listAround(issue?.path[0]),
    });
  }
  return {
    params: params.data,
    query: parseOrThrow(spec.query, raw.query, 'The query'),
    headers: parseOrThrow(spec.headers, raw.headers, 'The header'),
    body: parseOrThrow(spec.body, raw.body, 'The body'),
  };
}

function rowOf(spec: Spec<unknown, unknown, unknown, unknown, unknown>): Omit<Route, 'access' | 'run'> {
  const { method, name, path, summary, status, otherStatuses, notJson, streams, example } = spec;
  const { params, query, headers, body, answer } = spec;
  return {
    method,
    name,
    path,
    summary,
    status,
    ...(otherStatuses === undefined ? {} : { otherStatuses }),
    ...(notJson === undefined ? {} : { notJson }),
    ...(streams === undefined ? {} : { streams }),
    ...(example === undefined ? {} : { example }),
    schemas: { params, query, headers, body, answer },
  };
}

/** Makes a row of the table from a route for key holders. */
export function guardedRoute<Params, Query, Headers, Body, Value>(
  spec: GuardedSpec<Params, Query, Headers, Body, Value>,
): Route {
  return {
    ...rowOf(spec),
    access: spec.access,
    run: async (raw, caller) => {
      if (caller === undefined) throw new CrewboardError('unauthorized', 'A valid key is needed.');
      return spec.handler(parseParts(spec, raw), caller);
    },
  };
}

/** Makes a row of the table from a route for everybody; it takes no input. */
export function publicRoute<Value>(spec: PublicSpec<Value>): Route {
  return {
    ...rowOf(spec),
    access: 'public',
    run: async (raw) => {
      parseParts(spec, raw);
      return spec.handler();
    },
  };
}
