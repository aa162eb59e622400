import { z } from 'zod';

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** True when `text` has no lone surrogate and no NUL: what Redis, JSON and the Messages API can all carry. */
export function isCleanText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\u0000');
}

/** Characters that show: neither spaces nor controls, nor what is drawn as nothing (joiners, fillers, bidi marks, blank Braille). */
const VISIBLE = /[^\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** True when a reader would see nothing of `text`. */
export function isBlank(text: string): boolean {
  return !VISIBLE.test(text);
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The size of `text` in UTF-8 bytes. */
export function utf8Bytes(text: string): number {
  return encoder.encode(text).length;
}

function fits(text: string, maxBytes: number): boolean {
  // A UTF-16 code unit is one to three bytes of UTF-8, so most texts need no encoding to decide.
  if (text.length > maxBytes) return false;
  return text.length * 3 <= maxBytes || utf8Bytes(text) <= maxBytes;
}

function graphemesAtMost(text: string, max: number): boolean {
  // A grapheme is rarely over 11 code units; bounding the length first keeps the segmenter from a huge input.
  if (text.length > max * 32) return false;
  let count = 0;
  for (const _ of segmenter.segment(text)) if (++count > max) return false;
  return true;
}

/**
 * Cuts `text` to at most `maxBytes` of UTF-8 without splitting a character.
 * Returns `text` itself when it fits.
 */
export function cutUtf8(text: string, maxBytes: number): string {
  if (fits(text, maxBytes)) return text;
  const bytes = encoder.encode(text);
  let end = maxBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return decoder.decode(bytes.subarray(0, end));
}

/** A text of at most `maxBytes` UTF-8 bytes without lone surrogates or NUL; may be empty. */
export function boundedText(maxBytes: number) {
  return z
    .string()
    .refine(isCleanText, 'must not contain a lone surrogate or NUL')
    .refine((text) => fits(text, maxBytes), `must be at most ${maxBytes} bytes of UTF-8`);
}

/** Like {@link boundedText}, and not blank. */
export function requiredText(maxBytes: number) {
  return boundedText(maxBytes).refine((text) => !isBlank(text), 'must not be blank');
}

/** A title: at most `maxGraphemes` characters as a person counts them, not blank, clean. */
export function titleText(maxGraphemes = 200) {
  return z
    .string()
    .refine(isCleanText, 'must not contain a lone surrogate or NUL')
    .refine((text) => !isBlank(text), 'must not be blank')
    .refine((text) => graphemesAtMost(text, maxGraphemes), `must be at most ${maxGraphemes} characters`);
}
