import { APIConnectionError, APIError } from '@anthropic-ai/sdk';
import { redactor } from '@crewboard/contracts';
import { z } from 'zod';
import type { CallSpent } from './call-spent.ts';
import { ModelCallError, type ModelCallErrorKind } from './model-call.ts';
import { askedPauseMs } from './rate-headers.ts';
import { thrownText } from './thrown-text.ts';

const KIND_BY_TYPE: Readonly<Record<string, ModelCallErrorKind>> = {
  overloaded_error: 'overloaded',
  rate_limit_error: 'rate_limited',
  api_error: 'transient',
  timeout_error: 'transient',
  conflict_error: 'transient',
  request_too_large: 'context',
  invalid_request_error: 'provider',
  authentication_error: 'provider',
  permission_error: 'provider',
  billing_error: 'provider',
  not_found_error: 'provider',
};

// The API has no code of its own for this case; both wordings of it are matched, anything else stays `provider`.
const TOO_LONG = /prompt is too long|exceeds?\b.{0,60}\bcontext (window|limit|length)/i;

function kindByStatus(status: number): ModelCallErrorKind {
  if (status === 529) return 'overloaded';
  if (status === 429) return 'rate_limited';
  if (status === 413) return 'context';
  if (status >= 500 || status === 408 || status === 409 || status === 499) return 'transient';
  return 'provider';
}

function kindOf(error: APIError): ModelCallErrorKind {
  // A 429 that no waiting mends: a person has to raise the limit.
  if (error.errorCode?.endsWith('spend_limit_reached')) return 'provider';
  const byType = error.type === null ? undefined : KIND_BY_TYPE[error.type];
  const kind = error.status === undefined ? (byType ?? 'transient') : kindByStatus(error.status);
  return kind === 'provider' && TOO_LONG.test(error.apiMessage ?? '') ? 'context' : kind;
}

function networkCode(error: Error): string {
  const seen: unknown[] = [];
  let cause: unknown = error.cause;
  while (cause instanceof Error && !seen.includes(cause)) {
    if ('code' in cause && typeof cause.code === 'string') return ` (${cause.code})`;
    seen.push(cause);
    cause = cause.cause;
  }
  return '';
}

/** Takes the key, and anything that looks like one, out of a text that a provider sent. */
const redact = (text: string, apiKey: string): string => redactor([apiKey])(text);

function reasonOf(error: APIError): string {
  const what = [error.status, error.type].filter((part) => part !== undefined && part !== null).join(' ');
  return [what, error.apiMessage ?? ''].filter((part) => part !== '').join(': ') || 'no details';
}

const ErrorEvent = z.object({ error: z.object({ type: z.string(), message: z.string() }) });

/** No connection came about, so nothing was read. */
const NOT_CONNECTED = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH/;

/** A call that is refused costs nothing; behind a gateway that gave up waiting, a model may have gone on. */
function spentAt(status: number | undefined): CallSpent {
  const isGateway = status === undefined || [408, 499, 502, 504, 524].includes(status);
  return isGateway ? { kind: 'unknown' } : { kind: 'nothing' };
}

/** Turns what the SDK threw into a {@link ModelCallError}; the original, which holds headers, is not kept. */
export function toModelCallError(error: unknown, apiKey: string): ModelCallError {
  if (error instanceof ModelCallError) return error;
  if (error instanceof APIError && !(error instanceof APIConnectionError)) {
    return new ModelCallError(kindOf(error), redact(`the model answered ${reasonOf(error)}`, apiKey), {
      retryAfterMs: askedPauseMs(error.headers),
      status: error.status,
      spent: spentAt(error.status),
    });
  }
  const code = error instanceof Error ? networkCode(error) : '';
  const message = thrownText(error);
  const spent = NOT_CONNECTED.test(code) ? ({ kind: 'nothing' } as const) : undefined;
  const reason = redact(`the call did not get through: ${message}${code}`, apiKey);
  return new ModelCallError('transient', reason, { spent });
}

/** Turns the data of an `error` event inside a stream into a {@link ModelCallError}. */
export function streamError(data: unknown, apiKey: string): ModelCallError {
  const parsed = ErrorEvent.safeParse(data);
  if (!parsed.success)
    return new ModelCallError(
      'transient',
      "the model's stream ended with an error that does not say what it is",
    );
  const { type, message } = parsed.data.error;
  const kind = Object.hasOwn(KIND_BY_TYPE, type) ? (KIND_BY_TYPE[type] ?? 'transient') : 'transient';
  const tooLong = kind === 'provider' && TOO_LONG.test(message);
  return new ModelCallError(
    tooLong ? 'context' : kind,
    redact(`the model's stream ended with ${type}: ${message}`, apiKey),
  );
}
