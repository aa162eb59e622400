import type { FileHandle } from 'node:fs/promises';
import { CrewboardError } from '@crewboard/contracts';
import type { z } from 'zod';

const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 0x0a;
/** Far above a job with the longest goal, schema and result. */
const LINE_BYTES_MOST = 64 * 1024 * 1024;

/** A line of an archive as it lies: where it begins, and its bytes without the line break. */
export interface RawLine {
  at: number;
  bytes: Buffer;
}

/** What is said of an archive that can't be read; nothing of the job is changed by finding one. */
export function damagedArchive(jobId: string, what: string): CrewboardError {
  return new CrewboardError(
    'unavailable',
    `the archive of ${jobId} is damaged (${what}): put its file back from a backup of the data folder, or delete the job.`,
    { retry: 'never' },
  );
}

/** What is said of an archive that is there and that the system refuses to read: `code` is the system's, such as `EACCES`. */
export function unreadableArchive(jobId: string, code: string, cause: unknown): CrewboardError {
  return new CrewboardError(
    'unavailable',
    `the archive of ${jobId} can't be read (${code} for archive/${jobId}.jsonl in the data folder): see that CREWBOARD_DATA_DIR names the folder that all processes share, and that this process may read it.`,
    {},
    { cause },
  );
}

/** The whole lines of a file from its start; a last line without a break is none. */
export async function* rawLines(handle: FileHandle, jobId: string): AsyncGenerator<RawLine> {
  let rest: Buffer = Buffer.alloc(0);
  let at = 0;
  for (let position = 0; ; ) {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    rest = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
    let from = 0;
    for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE, from)) {
      yield { at: at + from, bytes: rest.subarray(from, end) };
      from = end + 1;
    }
    at += from;
    rest = rest.subarray(from);
    if (rest.length > LINE_BYTES_MOST) throw damagedArchive(jobId, `no line ends after byte ${at}`);
  }
}

/** Parses a line as what it must be. Errors: `unavailable`. */
export function parseLine<T>(schema: z.ZodType<T>, bytes: Buffer, jobId: string): T {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch {
    throw damagedArchive(jobId, 'a line is no JSON');
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw damagedArchive(jobId, `${issue?.path.join('.')}: ${issue?.message}`);
}
