import {
  type BoardEvent,
  type EditJobBody,
  EventList,
  Job,
  type JobBody,
  JobList,
  JobResult,
  Ready,
  ResultLine,
  SubmitAnswer,
  TranscriptPage,
} from '@crewboard/contracts';
import { type ArtifactCalls, artifactCalls } from './artifacts.ts';
import type { CallOptions, Page, WriteOptions } from './call-options.ts';
import { type FollowOptions, followEvents } from './follow.ts';
import { type KeyCalls, keyCalls } from './keys.ts';
import { jobPath, withQuery, writeHeaders } from './requests.ts';
import { type RerunCalls, rerunCalls } from './rerun.ts';
import type { Retries } from './retries.ts';
import { type SteerCalls, steerCalls } from './steer.ts';
import { type TaskCalls, taskCalls } from './tasks.ts';
import { createTransport, type Transport } from './transport.ts';
import { waitForEnd } from './wait.ts';

export interface ClientOptions {
  /** Such as `http://127.0.0.1:7420`. */
  baseUrl: string;
  apiKey?: string | undefined;
  /** Another `fetch` than the global one. */
  fetch?: typeof fetch | undefined;
  /** The longest wait for an answer, 60 s by default. */
  timeoutMs?: number | undefined;
  /** The longest silence on a stream, 45 s by default (the server breaks it every 15 s). */
  idleMs?: number | undefined;
  /** Of calls that are safe to repeat, when the server can't be reached, is overloaded or asks to wait. */
  retries?: Partial<Retries> | undefined;
  /** Of an event stream that was cut. */
  reconnect?: Partial<Retries> | undefined;
}

/**
 * A Crewboard server. Every call throws CrewboardError with the server's code and extras; `unavailable` names
 * the URL that could not be reached. An aborted call throws its signal's reason.
 */
export interface Client {
  jobs: {
    submit(body: JobBody, options?: WriteOptions): Promise<SubmitAnswer>;
    get(jobId: string, options?: CallOptions): Promise<Job>;
    list(page?: Page, options?: CallOptions): Promise<JobList>;
    cancel(jobId: string, reason?: string, options?: WriteOptions): Promise<Job>;
    pause(jobId: string, reason?: string, options?: CallOptions): Promise<Job>;
    /** Lifts every cause of a pause. */
    resume(jobId: string, reason?: string, options?: CallOptions): Promise<Job>;
    /** New limits, at the version of the job that was seen; null takes one away. */
    edit(jobId: string, body: EditJobBody, options?: CallOptions): Promise<Job>;
    /** Starts a job that was submitted with `hold`. */
    start(jobId: string, options?: CallOptions): Promise<Job>;
    /** Deletes an ended job with everything that is kept of it; `not_found` once it is gone. */
    delete(jobId: string, options?: CallOptions): Promise<void>;
    /**
     * The job's result once it has ended, however long that takes: a job may also wait for people. An
     * `AbortSignal.timeout` ends the wait and leaves the job running.
     */
    wait(jobId: string, options?: CallOptions): Promise<JobResult>;
    /** The job's result, partial while it runs. */
    result(jobId: string, options?: CallOptions): Promise<JobResult>;
    /** A page of the lead's conversation; `not_found` when the job has no lead. */
    transcript(jobId: string, page?: Page, options?: CallOptions): Promise<TranscriptPage>;
    /** One line a task in plan order, as they come. */
    results(jobId: string, options?: CallOptions): AsyncIterable<ResultLine>;
    /** Follows a job live, resuming over broken connections, until its terminal event. */
    events(jobId: string, options?: FollowOptions): AsyncIterable<BoardEvent>;
    /** A page of the log that `events` follows. */
    listEvents(
      jobId: string,
      page?: { after?: string; limit?: number } & Pick<FollowOptions, 'types' | 'taskId'>,
      options?: CallOptions,
    ): Promise<EventList>;
  } & SteerCalls &
    RerunCalls;
  tasks: TaskCalls;
  artifacts: ArtifactCalls;
  keys: KeyCalls;
  ready(options?: CallOptions): Promise<Ready>;
}

const RETRIES: Retries = { tries: 2, baseMs: 200, maxMs: 2000 };
const RECONNECT: Retries = { tries: 10, baseMs: 250, maxMs: 10_000 };

async function* readResults(
  transport: Transport,
  jobId: string,
  { signal }: CallOptions,
): AsyncGenerator<ResultLine> {
  const path = `${jobPath(jobId)}/results.jsonl`;
  const lines = await transport.lines({ path, headers: { accept: 'application/x-ndjson' }, signal });
  if (lines === undefined) return;
  for await (const line of lines) yield transport.parse(ResultLine, line, path);
}

function jobCalls(transport: Transport, reconnect: Retries): Client['jobs'] {
  const control = (jobId: string, action: string, body?: object, { signal }: CallOptions = {}) =>
    transport.json(Job, { method: 'POST', path: `${jobPath(jobId)}/${action}`, body, signal });
  const calls: Client['jobs'] = {
    submit: (body, options = {}) =>
      transport.json(SubmitAnswer, {
        method: 'POST',
        path: '/v1/jobs',
        body,
        headers: writeHeaders(options),
        signal: options.signal,
      }),
    get: (jobId, { signal } = {}) => transport.json(Job, { path: jobPath(jobId), signal }),
    list: (page = {}, { signal } = {}) =>
      transport.json(JobList, { path: withQuery('/v1/jobs', page), signal }),
    cancel: (jobId, reason, options = {}) =>
      transport.json(Job, {
        method: 'POST',
        path: `${jobPath(jobId)}/cancel`,
        body: { reason },
        headers: writeHeaders(options),
        signal: options.signal,
      }),
    pause: (jobId, reason, options) => control(jobId, 'pause', { reason }, options),
    resume: (jobId, reason, options) => control(jobId, 'resume', { reason }, options),
    start: (jobId, options) => control(jobId, 'start', undefined, options),
    edit: (jobId, body, { signal } = {}) =>
      transport.json(Job, { method: 'PATCH', path: jobPath(jobId), body, signal }),
    delete: (jobId, { signal } = {}) => transport.none({ method: 'DELETE', path: jobPath(jobId), signal }),
    wait: (jobId, options = {}) => waitForEnd(calls, jobId, options),
    result: (jobId, { signal } = {}) =>
      transport.json(JobResult, { path: `${jobPath(jobId)}/result`, signal }),
    transcript: (jobId, page = {}, { signal } = {}) =>
      transport.json(TranscriptPage, { path: withQuery(`${jobPath(jobId)}/transcript`, page), signal }),
    results: (jobId, options = {}) => readResults(transport, jobId, options),
    events: (jobId, follow = {}) => followEvents(transport, jobId, follow, reconnect),
    listEvents: (jobId, { types, ...page } = {}, { signal } = {}) => {
      const query = { ...page, types: types?.join(',') };
      return transport.json(EventList, { path: withQuery(`${jobPath(jobId)}/events`, query), signal });
    },
    ...steerCalls(transport),
    ...rerunCalls(transport),
  };
  return calls;
}

/** Returns a client of the server at `baseUrl`; it holds no connection of its own. */
export function createClient(options: ClientOptions): Client {
  const transport = createTransport({
    baseUrl: options.baseUrl,
    apiKey: options.apiKey,
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    timeoutMs: options.timeoutMs ?? 60_000,
    idleMs: options.idleMs ?? 45_000,
    retries: { ...RETRIES, ...options.retries },
  });
  return {
    jobs: jobCalls(transport, { ...RECONNECT, ...options.reconnect }),
    tasks: taskCalls(transport),
    artifacts: artifactCalls(transport),
    keys: keyCalls(transport),
    ready: ({ signal } = {}) => transport.json(Ready, { path: '/readyz', alsoAnswers: 503, signal }),
  };
}
