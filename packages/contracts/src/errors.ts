import { z } from 'zod';
import { toldIssue } from './issue-text.ts';
import { mendedCall } from './mended-call.ts';
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
 * its way out. Control and bidi characters in it are shown as `\u{...}`; a text of others that may hold line breaks is
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

  /** The same error with more said of it. */
  with(extras: ErrorExtras): CrewboardError {
    const all = { ...this.extras, ...extras, retry: this.retry };
    return new CrewboardError(this.code, this.detail, all, { cause: this });
  }
}

/** Whether it was carried out is not known of what failed on the way. */
const UNCERTAIN: readonly ErrorCode[] = ['unavailable'];
const NOTHING_CHANGED = 'Nothing was changed.';

/** An error's detail, whose first line says of every refusal that nothing was changed. */
function toldDetail({ code, detail }: CrewboardError): string {
  if (UNCERTAIN.includes(code) || detail.includes(NOTHING_CHANGED)) return detail;
  const [first = '', ...rest] = detail.split('\n');
  const said = first.trimEnd();
  return [`${said}${/[.!?:]$/.test(said) ? '' : '.'} ${NOTHING_CHANGED}`, ...rest].join('\n');
}

const again = (change?: string): NextCall => ({
  call: 'again',
  ...(change === undefined ? {} : { with: change }),
});

/** The next call after an error that names none; undefined: it depends on where the error was met. */
function usualNext({ code, extras }: CrewboardError): NextCall | undefined {
  const taskId = typeof extras.current?.taskId === 'string' ? extras.current.taskId : undefined;
  const readTask: NextCall = { call: 'read_task', ...(taskId === undefined ? {} : { taskId }) };
  switch (code) {
    case 'stale_version':
    case 'not_owner':
    case 'invalid_transition':
    case 'parallel_in_progress':
      return readTask;
    case 'not_ready':
      return { ...readTask, call: 'explain_task' };
    case 'already_claimed':
    case 'lease_lost':
      return { call: 'claim' };
    case 'terminal':
      return taskId === undefined ? { call: 'read_result' } : readTask;
    // Sent as it stands, an example of the call could change what its reader did not mean to.
    case 'invalid_argument':
    case 'duplicate_key':
      return { ...readTask, call: 'look' };
    case 'dependency_cycle':
    case 'unknown_dependency':
      return { call: 'list_tasks' };
    case 'board_paused':
    case 'budget_exhausted':
      return { call: 'read_job' };
    case 'idempotency_mismatch':
      return again('a new Idempotency-Key');
    case 'unauthorized':
      return again('"Authorization: Bearer <key>"');
    case 'unsupported_media_type':
      return again('"Content-Type: application/json"');
    case 'payload_too_large':
      return again('a smaller body');
    case 'evidence_required':
    case 'check_failed':
    case 'method_not_allowed':
    case 'rate_limited':
    case 'unavailable':
      return again();
    case 'plan_mode':
    case 'not_found':
    case 'forbidden':
    case 'limit_exceeded':
      return taskId === undefined ? undefined : readTask;
  }
}

/** How the caller of a refused call is spoken to. */
export interface Speech {
  /** Puts an advised call into the caller's language; `example`: a valid form of the refused one. */
  say(next: NextCall, example?: unknown): string;
  /** A valid body or input of the refused call. */
  example?: unknown;
  /** The body or input that was refused, with the schema that it is for: the example is made of it where it can be. */
  refused?: { schema: z.ZodType; given: unknown };
  /** The next call where an error of this caller's kind has no other. */
  otherwise?: NextCall;
}

/** Codes of calls whose form was wrong: they carry a valid one. */
const ABOUT_FORM: readonly ErrorCode[] = ['invalid_argument', 'evidence_required'];

const isFields = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The whole valid form of a refused call: the call itself, mended, or the fields that the error names put into one. */
function wholeExample(error: CrewboardError, { example, refused }: Speech): unknown {
  const { code, extras } = error;
  if (!ABOUT_FORM.includes(code)) return extras.example;
  const valid = isFields(example) && isFields(extras.example) ? { ...example, ...extras.example } : example;
  const mended =
    refused && mendedCall(refused.schema, refused.given, { path: extras.path, fits: extras.fits, valid });
  if (mended !== undefined) return mended;
  if (example === undefined) return extras.example;
  if (extras.example === undefined) return example;
  return isFields(example) && isFields(extras.example) ? valid : extras.example;
}

function toldExtras(error: CrewboardError, speech: Speech): ErrorExtras {
  const { next: advised, example: _, fits: _fits, ...rest } = error.extras;
  const example = wholeExample(error, speech);
  const next = advised ?? usualNext(error) ?? speech.otherwise;
  const said = next === undefined || typeof next === 'string' ? next : speech.say(next, example);
  return {
    ...rest,
    ...(said === undefined ? {} : { next: said }),
    ...(example === undefined ? {} : { example }),
  };
}

/** Returns the wire form of `error` for a caller who is spoken to by `speech`. */
export function toProblem(error: CrewboardError, speech: Speech): Problem {
  return {
    type: `https://crewboard.dev/errors/${error.code}`,
    title: error.code.replaceAll('_', ' '),
    status: ERROR_STATUS[error.code],
    code: error.code,
    detail: toldDetail(error),
    retry: error.retry,
    ...toldExtras(error, speech),
  };
}

/** Renders `error` for a model: one JSON object, code and detail first, as a tool's `is_error` text. */
export function toToolError(error: CrewboardError, speech: Speech): string {
  const { code, retry } = error;
  return JSON.stringify({ code, detail: toldDetail(error), retry, ...toldExtras(error, speech) });
}

/** Issues that one error tells. */
const ISSUES_TOLD = 3;

/**
 * Turns a failed zod parse of `value` into `invalid_argument` that names the first wrong path and says what is allowed.
 * `what` names the thing parsed, such as "the job"; `example` is a valid one, or fields of one.
 */
export function invalidArgument(
  what: string,
  error: z.ZodError,
  value: unknown,
  example?: unknown,
): CrewboardError {
  const issues = error.issues.slice(0, ISSUES_TOLD).map((issue) => toldIssue(issue, value));
  const more = error.issues.length > ISSUES_TOLD ? ` (and ${error.issues.length - ISSUES_TOLD} more)` : '';
  const [first] = issues;
  const valid =
    isFields(example) && isFields(first?.example)
      ? { ...example, ...first.example }
      : (first?.example ?? example);
  return new CrewboardError(
    'invalid_argument',
    `${what} is not valid: ${issues.map(({ text }) => text).join('; ')}${more}`,
    {
      ...(first === undefined || first.path === '' ? {} : { path: first.path }),
      ...(first?.allowed === undefined ? {} : { allowed: first.allowed }),
      ...(valid === undefined ? {} : { example: valid }),
    },
  );
}

/** Parses `value` by `schema`, or throws `invalid_argument` (see {@link invalidArgument}). */
export function parseOrThrow<T>(schema: z.ZodType<T>, value: unknown, what: string, example?: unknown): T {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw invalidArgument(what, parsed.error, value, example);
  return parsed.data;
}
