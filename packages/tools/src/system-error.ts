import { getSystemErrorMap } from 'node:util';

/** The code of a system error such as "ENOENT"; undefined for anything else. */
export function systemErrorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** What went wrong in the system's own words, without the path, such as "ENOSPC: no space left on device". */
export function systemErrorInWords(error: unknown): string {
  const code = systemErrorCode(error);
  if (code === undefined) return error instanceof Error ? error.message : String(error);
  const errno = error instanceof Error && 'errno' in error ? error.errno : undefined;
  const known = typeof errno === 'number' ? getSystemErrorMap().get(errno) : undefined;
  return known === undefined ? code : `${code}: ${known[1]}`;
}
