import { CrewboardError } from '@crewboard/contracts';
import { parseAnswer, type Schema, toError } from './answers.ts';
import { readChunks } from './chunks.ts';
import { type Deadline, startDeadline } from './deadline.ts';
import { readLines } from './lines.ts';
import { type Retries, withRetries } from './retries.ts';

export type { Schema } from './answers.ts';

export interface TransportOptions {
  baseUrl: string;
  apiKey?: string | undefined;
  fetch: typeof fetch;
  /** The longest wait for an answer. */
  timeoutMs: number;
  /** The longest silence within a streamed answer. */
  idleMs: number;
  /** Of requests that are safe to repeat. */
  retries: Retries;
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
  /** Whether sending it twice is as good as once; by default a GET, and what carries an Idempotency-Key. */
  repeatable?: boolean;
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

function isRepeatable({ method = 'GET', headers, repeatable }: Request): boolean {
  return repeatable ?? (method === 'GET' || headers?.['idempotency-key'] !== undefined);
}

/** The system's own word for why a connection failed, such as ECONNREFUSED. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return String(cause);
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message;
}

/** What went wrong on the way to `url`, as our error; the caller's own abort stays the reason that it gave. */
function translate(error: unknown, url: string, timedOut: boolean, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason;
  if (error instanceof CrewboardError) return error;
  const why = timedOut ? 'no answer for too long' : reasonOf(error);
  const detail = `Cannot reach the Crewboard server at ${url} (${why}): is it running, and is the URL right?`;
  return new CrewboardError('unavailable', detail, timedOut ? { timedOut } : {}, { cause: error });
}

/** A body that no JSON can be made of is the caller's mistake: sent again it is none the better. */
function toJson(body: unknown): string {
  try {
    return JSON.stringify(body);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.split('\n', 1)[0] : String(cause);
    throw new CrewboardError('invalid_argument', `The body can't be written as JSON: ${why}.`, {}, { cause });
  }
}

/** Refuses a server or a key that no request can be sent with. The key itself is in no error. */
function refuseUnsendable({ baseUrl, apiKey }: Pick<TransportOptions, 'baseUrl' | 'apiKey'>): void {
  const { protocol } = URL.canParse(baseUrl) ? new URL(baseUrl) : { protocol: '' };
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw new CrewboardError('invalid_argument', 'baseUrl must be a URL such as http://127.0.0.1:7420');
  }
  if (apiKey === undefined || /^[\x21-\x7e]+$/.test(apiKey)) return;
  throw new CrewboardError(
    'invalid_argument',
    'the API key is empty or has a character that no key has, such as a space, a line break or a letter with an accent: copy it again',
  );
}

function toInit({ method = 'GET', headers, body }: Request, apiKey: string | undefined): RequestInit {
  return {
    method,
    headers: {
      accept: 'application/json',
      ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: toJson(body) }),
  };
}

/** An answer whose body is still to be read, within its deadline. */
interface Open {
  response: Response;
  url: string;
  deadline: Deadline;
  /** What to throw for an error while reading. */
  fail(error: unknown): unknown;
}

/** Returns a transport to the server at `baseUrl`. Throws `invalid_argument` for a URL or key that can't be used. */
export function createTransport(options: TransportOptions): Transport {
  refuseUnsendable(options);
  const base = options.baseUrl.replace(/\/+$/, '');

  /** Sends `request` once and has `read` take the answer, under a deadline and the caller's signal. */
  async function send<T>(
    request: Request,
    withinMs: number,
    read: (open: Open) => T | Promise<T>,
  ): Promise<T> {
    const url = `${base}${request.path}`;
    const deadline = startDeadline(withinMs, request.signal);
    const fail = (error: unknown) => translate(error, url, deadline.expired, request.signal);
    try {
      const init = { ...toInit(request, options.apiKey), signal: deadline.signal };
      const response = await options.fetch(url, init);
      if (!isAnswer(response, request)) throw await toError(response, url);
      return await read({ response, url, deadline, fail });
    } catch (error) {
      deadline.end();
      throw fail(error);
    }
  }

  function exchange<T>(request: Request, withinMs: number, read: (open: Open) => T | Promise<T>): Promise<T> {
    const run = () => send(request, withinMs, read);
    return isRepeatable(request) ? withRetries(options.retries, request.signal, run) : run();
  }

  return {
    json: (schema, request) =>
      exchange(request, options.timeoutMs, async ({ response, url, deadline }) => {
        const text = await response.text();
        deadline.end();
        return parseAnswer(schema, text, url);
      }),
    none: (request) =>
      exchange(request, options.timeoutMs, async ({ response, deadline }) => {
        await response.body?.cancel();
        deadline.end();
      }),
    lines: (request) =>
      exchange(request, options.idleMs, ({ response, deadline, fail }) => {
        if (response.status !== 204 && response.body !== null) {
          return readLines(response.body.getReader(), deadline, fail);
        }
        deadline.end();
        return undefined;
      }),
    bytes: (request) =>
      exchange(request, options.idleMs, ({ response, deadline, fail }) =>
        readChunks(response.body?.getReader(), deadline, fail),
      ),
    parse: (schema, text, path) => parseAnswer(schema, text, base + path),
  };
}
