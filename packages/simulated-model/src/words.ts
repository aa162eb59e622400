/**
 * What ends a word for `wc -w` of GNU coreutils 9.1 in C.UTF-8: the ASCII white space, glibc's printable
 * `iswspace` characters, and the four no-break spaces that wc adds of its own. U+0085, U+2028 and U+2029 are not
 * printable there, so they neither end nor begin a word.
 */
const SEPARATOR = /[\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u202f\u205f\u2060\u3000]+/u;

/**
 * What begins a word: a printable character. To glibc that is any assigned one but controls and the line and
 * paragraph separators. (A glibc older than this runtime's Unicode knows fewer characters as assigned.)
 */
const PRINTABLE = /[^\p{Cn}\p{Cs}\p{Cc}\p{Zl}\p{Zp}]/u;
const PRINTABLE_BUT_REPLACEMENT = /[^\p{Cn}\p{Cs}\p{Cc}\p{Zl}\p{Zp}\ufffd]/u;

/**
 * Counts words as `LC_ALL=C.UTF-8 wc -w` does. With `replaced`, U+FFFD stands for bytes that are not valid UTF-8
 * (or NUL), which wc passes over: they neither begin nor end a word.
 */
export function countWords(text: string, { replaced = false }: { replaced?: boolean } = {}): number {
  const printable = replaced ? PRINTABLE_BUT_REPLACEMENT : PRINTABLE;
  let words = 0;
  for (const piece of text.split(SEPARATOR)) if (printable.test(piece)) words++;
  return words;
}
