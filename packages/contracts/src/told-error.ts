import type { z } from 'zod';
import { changeWords } from './change-words.ts';
import {
  type CrewboardError,
  ERROR_STATUS,
  type ErrorCode,
  type ErrorExtras,
  type Problem,
} from './errors.ts';
import { isFields } from './is-fields.ts';
import { mendedCall } from './mended-call.ts';
import type { NextCall } from './next-call.ts';
import { usualNext } from './usual-next.ts';

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

/** How the caller of a refused call is spoken to. */
export interface Speech {
  /**
   * Puts an advised call into the caller's language; `example`: a valid form of the refused one, `change`: what to
   * change in that one, in words. Undefined: the caller has no such call.
   */
  say(next: NextCall, example?: unknown, change?: string): string | undefined;
  /** A valid body or input of the refused call. */
  example?: unknown;
  /** The body or input that was refused, with the schema that it is for: the example is made of it where it can be. */
  refused?: { schema: z.ZodType; given: unknown };
  /** The next call where an error of this caller's kind has no other. */
  otherwise?: NextCall;
}

/** Codes of calls whose form was wrong: they carry a valid one. */
const ABOUT_FORM: readonly ErrorCode[] = ['invalid_argument', 'evidence_required'];

/** Whether the schema of the refused call takes `example`; a schema that can't say so takes nothing. */
function isTaken(example: unknown, refused: Speech['refused']): boolean {
  if (example === undefined || refused === undefined) return example !== undefined;
  try {
    return refused.schema.safeParse(example).success;
  } catch {
    return false;
  }
}

/**
 * The whole valid form of a refused call: the call itself, mended, or the fields that the error names put into one. One
 * that the call's schema would refuse again helps nobody.
 */
function wholeExample({ code, extras }: CrewboardError, { example, refused }: Speech): unknown {
  const candidates = [extras.example];
  if (ABOUT_FORM.includes(code)) {
    const valid = isFields(example) && isFields(extras.example) ? { ...example, ...extras.example } : example;
    const { path, fits } = extras;
    const mended = refused && mendedCall(refused.schema, refused.given, { path, fits, valid });
    candidates.unshift(mended, valid);
    candidates.push(example);
  }
  return candidates.find((candidate) => isTaken(candidate, refused));
}

function changeOf({ code, extras }: CrewboardError, { refused }: Speech): string | undefined {
  if (refused === undefined || !ABOUT_FORM.includes(code)) return undefined;
  return changeWords(refused.schema, refused.given, extras.path);
}

function toldExtras(error: CrewboardError, speech: Speech): ErrorExtras {
  const { next: advised, example: _, fits: _fits, ...rest } = error.extras;
  const example = wholeExample(error, speech);
  const next = advised ?? usualNext(error) ?? speech.otherwise;
  const said =
    next === undefined || typeof next === 'string'
      ? next
      : speech.say(next, example, changeOf(error, speech));
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
