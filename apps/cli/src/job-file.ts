import { readFile, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { CrewboardError, JobBody, parseOrThrow } from '@crewboard/contracts';

const MAX_BYTES = 64 * 1024 * 1024;

async function readBounded(file: string): Promise<string> {
  if (file === '-') return text(process.stdin);
  try {
    const { size } = await stat(file);
    if (size > MAX_BYTES)
      throw new CrewboardError('invalid_argument', `${file} is over ${MAX_BYTES} bytes: split the job`);
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof CrewboardError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new CrewboardError('invalid_argument', `the job file can't be read: ${why}`);
  }
}

function parseJson(source: string, file: string): unknown {
  try {
    return JSON.parse(source);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CrewboardError('invalid_argument', `${file} is not JSON: ${why}`);
  }
}

/**
 * Reads and checks a job file (`-`: stdin). A relative `workspace.path` is taken from the file's own folder, so
 * that a job runs from anywhere; `workspace` stands above it and is taken from the working directory.
 * Throws `invalid_argument` naming what is wrong.
 */
export async function readJobFile(file: string, workspace?: string): Promise<JobBody> {
  const name = file === '-' ? 'the job on stdin' : file;
  const body = parseOrThrow(JobBody, parseJson(await readBounded(file), name), name);
  if (workspace !== undefined) return { ...body, workspace: { path: resolve(workspace) } };
  if (body.workspace === undefined) return body;
  const folder = file === '-' ? '.' : dirname(file);
  return { ...body, workspace: { path: resolve(folder, body.workspace.path) } };
}
