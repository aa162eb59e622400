import { isEnded } from '@crewboard/contracts';
import { pause } from '../lease.ts';
import type { Log } from '../log.ts';
import type { ArtifactPlaces } from './put-artifact.ts';

/** A content that no artifact has goes when it is as old: far longer than a commit takes after its put. */
const ARTIFACT_ORPHAN_MS = 3_600_000;
const ROUND_EVERY_MS = 600_000;
/** Contents that the board is asked about at once. */
const BATCH = 500;
/** Of one job and round; the next round goes on. */
const DISCARDED_MOST = 1000;
/** Ended jobs that are known to have nothing left to look for. */
const SETTLED_MOST = 10_000;

interface SweepDependencies extends ArtifactPlaces {
  log: Log;
  /** Other than {@link ARTIFACT_ORPHAN_MS}. */
  orphanMs?: number;
}

/**
 * Removes contents that no artifact has: the process died between put and commit, or the attempt failed and its
 * artifacts were forgotten. Any number of processes may do so at once, for the store looks at each content again when
 * nobody can find it any more. The folder of a job without a board is left alone: that the board is not in this Redis
 * does not say that nobody wants its results.
 */
export function createArtifactSweeper({
  boards,
  artifacts,
  log,
  orphanMs = ARTIFACT_ORPHAN_MS,
}: SweepDependencies) {
  const settled = new Set<string>();

  async function discardUnwanted(jobId: string, hashes: readonly string[]): Promise<number> {
    const wanted = await boards.wantedContents(jobId, hashes);
    let discarded = 0;
    for (const sha256 of hashes) {
      if (wanted.has(sha256)) continue;
      const isWanted = async () => (await boards.wantedContents(jobId, [sha256])).has(sha256);
      if (await artifacts.discard(jobId, sha256, { olderThanMs: orphanMs, isWanted })) discarded++;
    }
    return discarded;
  }

  /** One round over a job's contents. Returns how many went, and whether younger ones are left to be looked at. */
  async function sweepContents(jobId: string, signal: AbortSignal) {
    await artifacts.removeLeftovers(jobId, orphanMs);
    let discarded = 0;
    let isDone = true;
    let batch: string[] = [];
    for await (const { sha256, ageMs } of artifacts.contents(jobId)) {
      signal.throwIfAborted();
      if (ageMs < orphanMs) isDone = false;
      else batch.push(sha256);
      if (batch.length < BATCH) continue;
      discarded += await discardUnwanted(jobId, batch);
      batch = [];
      if (discarded >= DISCARDED_MOST) return { discarded, isDone: false };
    }
    discarded += await discardUnwanted(jobId, batch);
    return { discarded, isDone };
  }

  /** Sweeps one job; answers how many contents went. */
  async function sweepJob(jobId: string, signal: AbortSignal): Promise<number> {
    const state = await boards.job(jobId).catch(() => undefined);
    if (state === undefined) return 0;
    const hasEnded = isEnded(state.status);
    if (!hasEnded) settled.delete(jobId);
    if (settled.has(jobId)) return 0;
    const { discarded, isDone } = await sweepContents(jobId, signal);
    if (settled.size >= SETTLED_MOST) settled.clear();
    if (hasEnded && isDone) settled.add(jobId);
    if (discarded > 0) log.info({ jobId, discarded }, 'contents that no artifact has were removed');
    return discarded;
  }

  /** One round over all jobs. A job that fails does not keep the others from theirs. */
  async function sweepAll(signal: AbortSignal): Promise<void> {
    for await (const jobId of artifacts.jobs()) {
      signal.throwIfAborted();
      await sweepJob(jobId, signal).catch((error: unknown) => {
        if (!signal.aborted)
          log.warn({ jobId, err: error }, 'artifacts not swept; the next round tries again');
      });
    }
  }

  return {
    sweepJob,
    /** Sweeps every ten minutes until `signal` aborts. */
    async run(signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        await pause(ROUND_EVERY_MS, signal);
        if (signal.aborted) return;
        await sweepAll(signal).catch((error: unknown) => {
          if (!signal.aborted) log.warn({ err: error }, 'artifacts not swept; the next round tries again');
        });
      }
    },
  };
}
