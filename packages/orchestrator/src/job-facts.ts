import type { Boards } from '@crewboard/board';
import type { JobSpec } from '@crewboard/contracts';

const REMEMBERED = 1000;

/** What a job is. Its limits may change, with its version; all else never does. */
export interface JobFacts {
  spec: JobSpec;
  lead: string | undefined;
  version: number;
}

/** The facts of a job at `version` or later; without one its limits may be out of date. */
export type FactsOf = (jobId: string, version?: number) => Promise<JobFacts>;

/** Remembers the facts of the jobs used last, so that deliveries and hand-overs need not read them again. */
export function rememberJobFacts(boards: Boards): FactsOf {
  const known = new Map<string, JobFacts>();
  return async (jobId, version = 0) => {
    const found = known.get(jobId);
    if (found !== undefined && found.version >= version) return found;
    const state = await boards.job(jobId);
    const facts = { spec: state.spec, lead: state.lead, version: state.version };
    if (found === undefined && known.size >= REMEMBERED) {
      const [oldest] = known.keys();
      if (oldest !== undefined) known.delete(oldest);
    }
    known.set(jobId, facts);
    return facts;
  };
}
