import { z } from 'zod';
import { NextCall } from './next-call.ts';
import { visibleText } from './shown-text.ts';

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
  /** One concrete call; on the wire always a text, in the caller's own language. */
  next: z.union([z.string(), NextCall]).optional(),
  path: z.string().optional(),
  example: z.unknown().optional(),
  /** What fits at `path`: it goes into the example, not to the wire. */
  fits: z.unknown().optional(),
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
 * The one error class for refusals. `detail`'s first line reads by itself; that nothing was changed is added to it on
 * its way out. Control and bidi characters in it are shown as `\uXXXX`; a text of others that may hold line breaks is
 * put in by `shownLine`. `extras` go to the wire as they are, so they never hold secrets.
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
    const shown = visibleText(detail);
    super(`${code}: ${shown}`, options);
    this.name = 'CrewboardError';
    const { retry, ...rest } = extras;
    this.code = code;
    this.detail = shown;
    this.extras = rest;
    this.retry = retry ?? DEFAULT_RETRY[code];
  }

  /** The HTTP status that goes with the code. */
  get status(): number {
    return ERROR_STATUS[this.code];
  }

  /** The same error with more said of it. */
  with(extras: ErrorExtras): CrewboardError {
    const all = { ...this.extras, ...extras, retry: this.retry };
    return new CrewboardError(this.code, this.detail, all, { cause: this });
  }
}
