import { isUtf8 } from 'node:buffer';

/** A file's bytes as text that Redis, JSON and the Messages API can carry. */
export interface Decoded {
  text: string;
  /** U+FFFD characters that stand for bytes which are not valid UTF-8. */
  invalid: number;
  /** NUL bytes, each shown as U+FFFD too. */
  nuls: number;
}

const REPLACEMENT = '\ufffd';

// A byte order mark is part of the file, so it stays.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

function countReplacements(text: string): number {
  let count = 0;
  for (let at = text.indexOf(REPLACEMENT); at >= 0; at = text.indexOf(REPLACEMENT, at + 1)) count++;
  return count;
}

function countReplacementBytes(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(REPLACEMENT); at >= 0; at = bytes.indexOf(REPLACEMENT, at + 3)) count++;
  return count;
}

/** Decodes UTF-8 as WHATWG says, and counts what could not be shown as it is. */
export function decodeUtf8(bytes: Buffer): Decoded {
  const decoded = decoder.decode(bytes);
  // A U+FFFD that the file itself holds always decodes to one, whatever stands around it.
  const invalid = isUtf8(bytes) ? 0 : countReplacements(decoded) - countReplacementBytes(bytes);
  if (!decoded.includes('\0')) return { text: decoded, invalid, nuls: 0 };
  const parts = decoded.split('\0');
  return { text: parts.join(REPLACEMENT), invalid, nuls: parts.length - 1 };
}

/** True when so much of the file is no text (over 1 in 20 characters) that reading it as text is hardly of use. */
export function looksBinary(decoded: Decoded): boolean {
  return (decoded.invalid + decoded.nuls) * 20 > decoded.text.length;
}
