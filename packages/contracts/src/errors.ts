import { z } from 'zod';

/** Every code that a caller, a model or a program can meet, with its HTTP status (DESIGN section 4). */
export const ERROR_STATUS = {
  stale_version: 409,
  already_claimed: 409,
  not_ready: 409,
  lease_lost: 409,
  not_owner: 403,
  invalid_transition: 409,
  terminal: 409,
  parallel_in_progress: 409,
  evidence_required: 422,
  check_failed: 422,
  dependency_cycle: 422,
  unknown_dependency: 422,
  duplicate_key: 409,
  not_found: 404,
  limit_exceeded: 422,
  invalid_argument: 400,
  board_paused: 409,
  plan_mode: 409,
  budget_exhausted: 402,
  unauthorized: 401,
  forbidden: 403,
  method_not_allowed: 405,
  payload_too_large: 413,
  unsupported_media_type: 415,
  idempotency_mismatch: 422,
  rate_limited: 429,
  unavailable: 503,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;
export const ErrorCode = z.enum(Object.keys(ERROR_STATUS) as [ErrorCode, ...ErrorCode[]]);

export const Retry = z.enum(['same', 'after_fix', 'after_refresh', 'later', 'never']);
export type Retry = z.infer<typeof Retry>;

const DEFAULT_RETRY: Record<ErrorCode, Retry> = {
  stale_version: 'after_refresh',
  already_claimed: 'never',
  not_ready: 'later',
  lease_lost: 'never',
  not_owner: 'never',
  invalid_transition: 'after_refresh',
  terminal: 'never',
  parallel_in_progress: 'later',
  evidence_required: 'after_fix',
  check_failed: 'after_fix',
  dependency_cycle: 'after_fix',
  unknown_dependency: 'after_fix',
  duplicate_key: 'after_fix',
  not_found: 'after_fix',
  limit_exceeded: 'after_fix',
  invalid_argument: 'after_fix',
  board_paused: 'later',
  plan_mode: 'later',
  budget_exhausted: 'later',
  unauthorized: 'after_fix',
  forbidden: 'never',
  method_not_allowed: 'after_fix',
  payload_too_large: 'after_fix',
  unsupported_media_type: 'after_fix',
  idempotency_mismatch: 'after_fix',
  rate_limited: 'later',
  unavailable: 'later',
};

/** What an error carries besides code and detail; each field is optional and means what DESIGN section 4 says. */
export const ErrorExtras = z.looseObject({
  current: z.looseObject({}).optional(),
  changedSince: z.array(z.looseObject({})).optional(),
  allowed: z.array(z.string()).optional(),
  next: z.string().optional(),
  path: z.string().optional(),
  example: z.unknown().optional(),
  nearest: z.array(z.string()).optional(),
  limitBytes: z.number().optional(),
  /** Advice for a caller that meets the same error again and again. */
  loopGuard: z.string().optional(),
});
export type ErrorExtras = z.infer<typeof ErrorExtras>;

/** The wire form of an error: `application/problem+json`, tool answers and MCP share it. */
export const Problem = z.looseObject({
  type: z.string(),
  title: z.string(),
  status: z.number().int(),
  code: ErrorCode,
  detail: z.string(),
  retry: Retry,
});
export type Problem = z.infer<typeof Problem> & ErrorExtras;

/**
 * The one error class for refusals. `detail`'s first line reads by itself and says that nothing changed
 * where that is not obvious; `extras` go to the wire as they are, so they never hold secrets.
 */
export class CrewboardError extends Error {
  readonly code: ErrorCode;
  readonly detail: string;
  readonly extras: ErrorExtras;
  readonly retry: Retry;

  constructor(
    code: ErrorCode,
    detail: string,
    extras: ErrorExtras & { retry?: Retry } = {},
    options?: ErrorOptions,
  ) {
    super(`${code}: ${detail}`, options);
    this.name = 'CrewboardError';
    const { retry, ...rest } = extras;
    this.code = code;
    this.detail = detail;
    this.extras = rest;
    this.retry = retry ?? DEFAULT_RETRY[code];
  }
}

/** Returns the wire form of `error`. */
export function toProblem(error: CrewboardError): Problem {
  return {
    type: `https://crewboard.dev/errors/${error.code}`,
    title: error.code.replaceAll('_', ' '),
    status: ERROR_STATUS[error.code],
    code: error.code,
    detail: error.detail,
    retry: error.retry,
    ...error.extras,
  };
}

/** Renders `error` for a model: one JSON object, code and detail first, as a tool's `is_error` text. */
export function toToolError(error: CrewboardError): string {
  return JSON.stringify({ code: error.code, detail: error.detail, retry: error.retry, ...error.extras });
}

function pathText(path: readonly PropertyKey[]): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else text += text === '' ? String(part) : `.${String(part)}`;
  }
  return text;
}

/**
 * Turns a failed zod parse into `invalid_argument` that names the first wrong path and says what is allowed.
 * `what` names the thing parsed, such as "the job"; at most three issues are listed.
 */
export function invalidArgument(what: string, error: z.ZodError, example?: unknown): CrewboardError {
  const issues = error.issues.slice(0, 3).map((issue) => {
    const path = pathText(issue.path);
    return path === '' ? issue.message : `${path}: ${issue.message}`;
  });
  const more = error.issues.length > 3 ? ` (and ${error.issues.length - 3} more)` : '';
  const first = error.issues[0];
  return new CrewboardError('invalid_argument', `${what} is not valid: ${issues.join('; ')}${more}`, {
    path: first === undefined ? undefined : pathText(first.path),
    ...(example === undefined ? {} : { example }),
  });
}

/** Parses `value` by `schema`, or throws `invalid_argument` (see {@link invalidArgument}). */
export function parseOrThrow<T>(schema: z.ZodType<T>, value: unknown, what: string, example?: unknown): T {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw invalidArgument(what, parsed.error, example);
  return parsed.data;
}
