/** A part of a file that a request asks for. */
export interface ByteRange {
  offset: number;
  bytes: number;
}

/**
 * Reads a `Range` header for a file of `size` bytes. Undefined: the whole file is meant, also for several ranges and
 * for other units, which a server may ignore. `unsatisfiable`: the range lies behind the end.
 */
export function parseRange(
  header: string | undefined,
  size: number,
): ByteRange | 'unsatisfiable' | undefined {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '') ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return undefined;
  if (first === '') {
    const bytes = Math.min(Number(last), size);
    return bytes === 0 ? 'unsatisfiable' : { offset: size - bytes, bytes };
  }
  const offset = Number(first);
  if (last !== '' && Number(last) < offset) return undefined;
  if (offset >= size) return 'unsatisfiable';
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1);
  return { offset, bytes: end - offset + 1 };
}
