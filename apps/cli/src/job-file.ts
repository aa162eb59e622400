import { createReadStream } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { CrewboardError, JobBody, parseOrThrow } from '@crewboard/contracts';

const MAX_BYTES = 64 * 1024 * 1024;

/** Reads to the end of `source`; throws `invalid_argument` above the bound. */
async function readBounded(source: AsyncIterable<Buffer>, name: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES)
      throw new CrewboardError('invalid_argument', `${name} is over ${MAX_BYTES} bytes: split the job`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function readSource(file: string, name: string): Promise<Buffer> {
  try {
    return await readBounded(file === '-' ? process.stdin : createReadStream(file), name);
  } catch (error) {
    if (error instanceof CrewboardError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new CrewboardError('invalid_argument', `the job file can't be read: ${why}`);
  }
}

/** UTF-8 with or without a byte order mark, which editors put there and the decoder takes off. */
const UTF8 = new TextDecoder('utf-8', { fatal: true });

function parseJson(source: Buffer, name: string): unknown {
  try {
    return JSON.parse(UTF8.decode(source));
  } catch (error) {
    if (error instanceof TypeError)
      throw new CrewboardError('invalid_argument', `${name} is not UTF-8 text: save it as UTF-8`);
    const why = error instanceof Error ? error.message : String(error);
    throw new CrewboardError('invalid_argument', `${name} is not JSON: ${why}`);
  }
}

/**
 * Reads and checks a job file (`-`: stdin). A relative `workspace.path` is taken from the file's own folder, so
 * that a job runs from anywhere; `workspace` stands above it and is taken from the working directory.
 * Throws `invalid_argument` naming what is wrong.
 */
export async function readJobFile(file: string, workspace?: string): Promise<JobBody> {
  const name = file === '-' ? 'the job on stdin' : file;
  const body = parseOrThrow(JobBody, parseJson(await readSource(file, name), name), name);
  if (workspace !== undefined) return { ...body, workspace: { path: resolve(workspace) } };
  if (body.workspace === undefined) return body;
  const folder = file === '-' ? '.' : dirname(file);
  return { ...body, workspace: { path: resolve(folder, body.workspace.path) } };
}
