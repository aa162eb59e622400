import { z } from 'zod';
import { isCleanText, utf8Bytes } from './text.ts';

/** Any JSON value. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/** Schema of any JSON value; numbers must be finite. */
export const JsonValue: z.ZodType<JsonValue> = z.json();

/** A JSON value of at most `maxBytes` when serialised, with clean text throughout. */
export function boundedJson(maxBytes: number): z.ZodType<JsonValue> {
  return JsonValue.superRefine((value, context) => {
    const text = JSON.stringify(value);
    if (utf8Bytes(text) > maxBytes) {
      context.addIssue({ code: 'custom', message: `must be at most ${maxBytes} bytes as JSON` });
    }
    // JSON.stringify escapes lone surrogates and NUL, so they show as escapes here.
    if (!isCleanText(text) || /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/i.test(text)) {
      context.addIssue({ code: 'custom', message: 'must not contain a lone surrogate or NUL' });
    }
  });
}

/**
 * An object from names that callers chose to values of `value`. Unlike `z.record` it keeps a member `__proto__`, which
 * is a name like any other.
 */
export function recordOf<T>(value: z.ZodType<T>): z.ZodType<Record<string, T>> {
  const isRecord = (input: unknown): input is object =>
    typeof input === 'object' && input !== null && !Array.isArray(input);
  return z
    .custom<Record<string, T>>(
      (input) => isRecord(input) && Object.values(input).every((member) => value.safeParse(member).success),
      'must be an object of such values',
    )
    .meta({ type: 'object', additionalProperties: z.toJSONSchema(value) });
}

/** The reason why no JSON with a member of this name is taken. */
export const PROTO_REFUSED =
  'it has a member "__proto__", which many readers of JSON drop or take for something else: give it another name';

/** True when `value`, as JSON.parse gave it, has a member `__proto__` at any depth. */
export function holdsProto(value: unknown): boolean {
  // A list that grows while it is walked: depth costs no stack.
  const found = [value];
  for (const each of found) {
    if (typeof each !== 'object' || each === null) continue;
    if (Object.hasOwn(each, '__proto__')) return true;
    for (const member of Object.values(each)) if (typeof member === 'object') found.push(member);
  }
  return false;
}
