import { DryRunAnswer, type JobBody, RerunAnswer, type RerunBody } from '@crewboard/contracts';
import type { WriteOptions } from './call-options.ts';
import { jobPath, writeHeaders } from './requests.ts';
import type { Transport } from './transport.ts';

/** What a submit would do, and running many tasks of a job again. */
export interface RerunCalls {
  /** Checks a body as a submit would, and stores nothing. */
  dryRun(body: JobBody, options?: WriteOptions): Promise<DryRunAnswer>;
  /** Runs the ended tasks that match again; the others stay as they are. */
  rerun(jobId: string, body: RerunBody, options?: WriteOptions): Promise<RerunAnswer>;
}

/** The calls of {@link RerunCalls}. */
export function rerunCalls(transport: Transport): RerunCalls {
  const post = (path: string, body: unknown, options: WriteOptions) => ({
    method: 'POST' as const,
    path,
    body,
    headers: writeHeaders(options),
    signal: options.signal,
  });
  return {
    dryRun: (body, options = {}) =>
      transport.json(DryRunAnswer, post('/v1/jobs', { ...body, dryRun: true }, options)),
    rerun: (jobId, body, options = {}) =>
      transport.json(RerunAnswer, post(`${jobPath(jobId)}/rerun`, body, options)),
  };
}
