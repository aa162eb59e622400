import { CrewboardError, Problem, type parseOrThrow } from '@crewboard/contracts';
import { readChunks } from './chunks.ts';
import { startDeadline } from './deadline.ts';
import { readLines } from './lines.ts';

/** A schema of the contracts package for `T`. */
export type Schema<T> = Parameters<typeof parseOrThrow<T>>[0];

export interface TransportOptions {
  baseUrl: string;
  apiKey?: string | undefined;
  fetch: typeof fetch;
  /** The longest wait for an answer. */
  timeoutMs: number;
  /** The longest silence within a streamed answer. */
  idleMs: number;
}

export interface Request {
  /** Below the base URL, with its query: `/v1/jobs?limit=5`. */
  path: string;
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal | undefined;
  /** A failing status whose body is an answer all the same, unless it is a problem. */
  alsoAnswers?: number;
}

/** Speaks HTTP with one server; every failure is a CrewboardError, except the caller's own abort reason. */
export interface Transport {
  /** Sends `request` and answers its JSON, parsed by `schema`. */
  json<T>(schema: Schema<T>, request: Request): Promise<T>;
  /** Sends `request`, whose answer has no body. */
  none(request: Request): Promise<void>;
  /** Sends `request` and answers the lines of its body as they come, or `undefined` for 204. */
  lines(request: Request): Promise<AsyncGenerator<string> | undefined>;
  /** Sends `request` and answers the bytes of its body as they come. */
  bytes(request: Request): Promise<AsyncGenerator<Uint8Array>>;
  /** Parses one item of a streamed answer. */
  parse<T>(schema: Schema<T>, text: string, path: string): T;
}

function isAnswer(response: Response, request: Request): boolean {
  if (response.ok) return true;
  const isProblem = response.headers.get('content-type')?.startsWith('application/problem+json') ?? false;
  return response.status === request.alsoAnswers && !isProblem;
}

async function toError(response: Response, url: string): Promise<CrewboardError> {
  const problem = Problem.safeParse(await response.json().catch(() => undefined));
  if (!problem.success) {
    return new CrewboardError(
      'unavailable',
      `${url} answered ${response.status} and no Crewboard error: is a Crewboard server running there?`,
    );
  }
  const { type: _type, title: _title, status: _status, code, detail, ...extras } = problem.data;
  return new CrewboardError(code, detail, extras);
}

function parseAnswer<T>(schema: Schema<T>, value: unknown, url: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new CrewboardError(
    'unavailable',
    `${url} answered in a shape that this client does not know (${issue?.path.join('.')}: ${issue?.message}): ` +
      'use a client of the same version as the server.',
    { retry: 'never' },
  );
}

function parseJson(text: string, url: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const detail = `${url} answered something that is not JSON: is a Crewboard server running there?`;
    throw new CrewboardError('unavailable', detail, { retry: 'never' }, { cause: error });
  }
}

/** The system's own word for why a connection failed, such as ECONNREFUSED. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return String(cause);
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message;
}

/** Returns a transport to the server at `baseUrl`. */
export function createTransport(options: TransportOptions): Transport {
  const base = options.baseUrl.replace(/\/+$/, '');

  /** Runs `exchange` under a deadline and the caller's signal; turns what fetch throws into our error. */
  async function exchange<T>(
    request: Request,
    waitMs: number,
    run: (response: Response, deadline: ReturnType<typeof startDeadline>) => Promise<T>,
  ): Promise<T> {
    const url = `${base}${request.path}`;
    const deadline = startDeadline(waitMs, request.signal);
    try {
      const response = await options.fetch(url, {
        method: request.method ?? 'GET',
        headers: {
          accept: 'application/json',
          ...(options.apiKey === undefined ? {} : { authorization: `Bearer ${options.apiKey}` }),
          ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
          ...request.headers,
        },
        ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
        signal: deadline.signal,
      });
      if (!isAnswer(response, request)) throw await toError(response, url);
      return await run(response, deadline);
    } catch (error) {
      deadline.end();
      throw translate(error, url, deadline.expired, request.signal);
    }
  }

  function translate(
    error: unknown,
    url: string,
    expired: boolean,
    signal: AbortSignal | undefined,
  ): unknown {
    if (signal?.aborted) return signal.reason;
    if (error instanceof CrewboardError) return error;
    const why = expired ? 'no answer for too long' : reasonOf(error);
    const detail = `Cannot reach the Crewboard server at ${url} (${why}): is it running, and is the URL right?`;
    return new CrewboardError('unavailable', detail, {}, { cause: error });
  }

  return {
    json: (schema, request) =>
      exchange(request, options.timeoutMs, async (response, deadline) => {
        const text = await response.text();
        deadline.end();
        return parseAnswer(schema, parseJson(text, response.url), response.url);
      }),
    none: (request) =>
      exchange(request, options.timeoutMs, async (response, deadline) => {
        await response.body?.cancel();
        deadline.end();
      }),
    lines: (request) =>
      exchange(request, options.idleMs, async (response, deadline) => {
        if (response.status === 204 || response.body === null) {
          deadline.end();
          return undefined;
        }
        const fail = (error: unknown) => translate(error, response.url, deadline.expired, request.signal);
        return readLines(response.body.getReader(), deadline, fail);
      }),
    bytes: (request) =>
      exchange(request, options.idleMs, async (response, deadline) => {
        const fail = (error: unknown) => translate(error, response.url, deadline.expired, request.signal);
        return readChunks(response.body?.getReader(), deadline, fail);
      }),
    parse: (schema, text, path) => parseAnswer(schema, parseJson(text, base + path), base + path),
  };
}
