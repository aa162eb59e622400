import { CrewboardError, type ErrorCode, Problem, type parseOrThrow } from '@crewboard/contracts';

/** A schema of the contracts package for `T`. */
export type Schema<T> = Parameters<typeof parseOrThrow<T>>[0];

/** `Retry-After`: seconds, or a date. */
function retryAfter(headers: Headers): { retryAfterMs?: number } {
  const value = headers.get('retry-after')?.trim() ?? '';
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? { retryAfterMs: Math.max(0, ms) } : {};
}

/** What stands in front of the server, or another program, says no in its own words. */
function foreignError({ status, headers }: Response, url: string): CrewboardError {
  const code: ErrorCode = status === 429 ? 'rate_limited' : 'unavailable';
  return new CrewboardError(
    code,
    `${url} answered ${status} and no Crewboard error: is a Crewboard server running there?`,
    { ...retryAfter(headers), retry: status === 429 || status >= 500 ? 'later' : 'never' },
  );
}

/** Returns the error that a failed `response` tells. */
export async function toError(response: Response, url: string): Promise<CrewboardError> {
  const problem = Problem.safeParse(await response.json().catch(() => undefined));
  if (!problem.success) return foreignError(response, url);
  const { type: _type, title: _title, status: _status, code, detail, ...extras } = problem.data;
  return new CrewboardError(code, detail, { ...retryAfter(response.headers), ...extras });
}

function parseJson(text: string, url: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const detail = `${url} answered something that is not JSON: is a Crewboard server running there?`;
    throw new CrewboardError('unavailable', detail, { retry: 'never' }, { cause: error });
  }
}

/** Parses a JSON text by `schema`; throws `unavailable` when it is none of ours. */
export function parseAnswer<T>(schema: Schema<T>, text: string, url: string): T {
  const parsed = schema.safeParse(parseJson(text, url));
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new CrewboardError(
    'unavailable',
    `${url} answered in a shape that this client does not know (${issue?.path.join('.')}: ${issue?.message}): ` +
      'use a client of the same version as the server.',
    { retry: 'never' },
  );
}
