const CUT = '[...]\n';

/** The end of `text` in at most `maxBytes` of UTF-8, marked when that is not all of it. */
export function tailOf(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= maxBytes) return text;
  let start = bytes.length - maxBytes + CUT.length;
  while (((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
  return `${CUT}${bytes.toString('utf8', start)}`;
}
