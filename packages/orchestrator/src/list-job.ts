import type { Boards } from '@crewboard/board';

/**
 * Puts a job into the lists of jobs, for good or until it is deleted: one that ran, ended and was deleted in that very
 * moment is taken out again. Its deletion is noted before its place in the lists goes, so one of the two sees the other.
 * `createdAt` in ms.
 */
export async function listJob(
  { index }: Pick<Boards, 'index'>,
  jobId: string,
  project: string,
  createdAt: number,
): Promise<void> {
  await index.list(jobId, project, createdAt);
  if (await index.wasDeleted(jobId)) await index.unlist(jobId, project);
}
