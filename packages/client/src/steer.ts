import {
  type ApprovePlanBody,
  Job,
  MessageAnswer,
  type MessageBody,
  type RejectPlanBody,
} from '@crewboard/contracts';
import type { WriteOptions } from './call-options.ts';
import { jobPath, writeHeaders } from './requests.ts';
import type { Schema, Transport } from './transport.ts';

/** How people steer a job. */
export interface SteerCalls {
  /** A word to the lead, or with a `target` to the agent of that task. */
  message(jobId: string, body: MessageBody, options?: WriteOptions): Promise<MessageAnswer>;
  /** Approves the plan that waits; `version`: the one that was seen. */
  approvePlan(jobId: string, body?: ApprovePlanBody, options?: WriteOptions): Promise<Job>;
  /** Rejects it; the text reaches the lead. */
  rejectPlan(jobId: string, body?: RejectPlanBody, options?: WriteOptions): Promise<Job>;
}

/** The calls that steer a job. */
export function steerCalls(transport: Transport): SteerCalls {
  const post = <Answer>(
    answer: Schema<Answer>,
    jobId: string,
    action: string,
    body: unknown,
    options: WriteOptions,
  ) =>
    transport.json(answer, {
      method: 'POST',
      path: `${jobPath(jobId)}/${action}`,
      body,
      headers: writeHeaders(options),
      signal: options.signal,
    });
  return {
    message: (jobId, body, options = {}) => post(MessageAnswer, jobId, 'messages', body, options),
    approvePlan: (jobId, body = {}, options = {}) => post(Job, jobId, 'plan/approve', body, options),
    rejectPlan: (jobId, body = {}, options = {}) => post(Job, jobId, 'plan/reject', body, options),
  };
}
