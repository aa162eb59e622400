import { mkdir, open, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { CrewboardError, JobId } from '@crewboard/contracts';
import { systemErrorCode } from '../system-error.ts';

/** The name of a content's file: its SHA-256. */
const CONTENT_NAME = /^[0-9a-f]{64}$/;

/** True for the name of a content; anything else in a job's folder is a leftover or none of ours. */
export function isContentName(name: string): boolean {
  return CONTENT_NAME.test(name);
}

/** Answers `undefined` where `work` finds nothing at its path. */
export async function unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Makes what was put into a folder, or taken out of it, durable. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path);
  await handle.sync().finally(() => handle.close());
}

/** The folder of a job by name; `not_found` for what is no job ID, so that no name leads out of the store. */
export function jobFolder(root: string, jobId: string): string {
  if (JobId.safeParse(jobId).success) return join(root, jobId);
  throw new CrewboardError('not_found', `no such job ${jobId}.`);
}

/**
 * The physical folder of a job, or undefined when there is none. Throws `forbidden` when something else stands in its
 * place, such as a link that leads out of the store.
 */
export async function openJobFolder(root: string, jobId: string): Promise<string | undefined> {
  const named = jobFolder(root, jobId);
  const real = await unlessMissing(realpath(named));
  if (real === undefined || real === join(await realpath(root), jobId)) return real;
  throw new CrewboardError(
    'forbidden',
    `the artifacts of ${jobId} lie outside the store: they are not touched.`,
  );
}

/** Like {@link openJobFolder}, and makes the folder, for its owner only, when there is none. */
export async function makeJobFolder(root: string, jobId: string): Promise<string> {
  const named = jobFolder(root, jobId);
  const made = await mkdir(named, { recursive: true, mode: 0o700 });
  if (made !== undefined) await syncFolder(root);
  return (await openJobFolder(root, jobId)) ?? named;
}
