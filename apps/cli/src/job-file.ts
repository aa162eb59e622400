import { createReadStream } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { CrewboardError, JobBody, parseOrThrow } from '@crewboard/contracts';
import { readingTrouble } from './file-trouble.ts';
import { scanJson } from './scan-json.ts';

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
    throw new CrewboardError('invalid_argument', readingTrouble(error, name), {}, { cause: error });
  }
}

/** UTF-8 with or without a byte order mark, which editors put there and the decoder takes off. */
const UTF8 = new TextDecoder('utf-8', { fatal: true });

function decode(source: Buffer, name: string): string {
  try {
    return UTF8.decode(source);
  } catch {
    throw new CrewboardError('invalid_argument', `${name} is not UTF-8 text: save it as UTF-8`);
  }
}

function parseJson(text: string, name: string): unknown {
  const { fault } = scanJson(text);
  try {
    const value: unknown = JSON.parse(text);
    if (fault === undefined) return value;
  } catch (error) {
    // The engine's own words repeat a piece of the text, and on some versions name no place.
    const why = fault ?? 'check commas and quotes';
    throw new CrewboardError('invalid_argument', `${name} is not JSON: ${why}`, {}, { cause: error });
  }
  throw new CrewboardError('invalid_argument', `${name}: ${fault}`);
}

/**
 * Reads and checks a job file (`-`: stdin). A relative `workspace.path` is taken from the file's own folder, so
 * that a job runs from anywhere; `workspace` stands above it and is taken from the working directory.
 * Throws `invalid_argument` naming what is wrong.
 */
export async function readJobFile(file: string, workspace?: string): Promise<JobBody> {
  const name = file === '-' ? 'the job on stdin' : file;
  const body = parseOrThrow(JobBody, parseJson(decode(await readSource(file, name), name), name), name);
  if (workspace !== undefined) return { ...body, workspace: { path: resolve(workspace) } };
  if (body.workspace === undefined) return body;
  const folder = file === '-' ? '.' : dirname(file);
  return { ...body, workspace: { path: resolve(folder, body.workspace.path) } };
}
