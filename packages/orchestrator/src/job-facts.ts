import type { Boards } from '@crewboard/board';
import type { JobSpec } from '@crewboard/contracts';

const REMEMBERED = 1000;

/** What never changes about a job once it is submitted. */
export interface JobFacts {
  spec: JobSpec;
  lead: string | undefined;
}

/** Remembers the fixed facts of the jobs used last, so that deliveries and hand-overs need not read them again. */
export function rememberJobFacts(boards: Boards): (jobId: string) => Promise<JobFacts> {
  const known = new Map<string, JobFacts>();
  return async (jobId) => {
    const found = known.get(jobId);
    if (found !== undefined) return found;
    const { spec, lead } = await boards.job(jobId);
    const facts = { spec, lead };
    if (known.size >= REMEMBERED) {
      const [oldest] = known.keys();
      if (oldest !== undefined) known.delete(oldest);
    }
    known.set(jobId, facts);
    return facts;
  };
}
