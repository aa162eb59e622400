import { escapedCharacter } from '@crewboard/contracts';

// Line breaks and other control characters, and the marks that reorder or hide text on screen.
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/u;
const UNSAFE_IN_JSON = new RegExp(UNSAFE.source, 'gu');

/**
 * A name as it stands on a line of a tool's answer: itself, or as a JSON string when it has characters that
 * would break or disguise the line, or begins like a JSON string. The result is always well-formed Unicode.
 */
export function shownName(name: string): string {
  const clean = name.toWellFormed();
  if (!UNSAFE.test(clean) && !clean.startsWith('"')) return clean;
  return JSON.stringify(clean).replace(UNSAFE_IN_JSON, escapedCharacter);
}

/** The nearest place at or before `at` (UTF-16 code units) that does not split a surrogate pair of `text`. */
export function pairStart(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  const before = text.charCodeAt(at - 1);
  const isSplit = unit >= 0xdc00 && unit <= 0xdfff && before >= 0xd800 && before <= 0xdbff;
  return isSplit ? at - 1 : at;
}

/** "1 file", "2 files", "1,234 files". */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? noun : plural}`;
}
