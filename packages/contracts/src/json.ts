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
