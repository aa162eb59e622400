import type { FailureClass, JobStatus, Owner, Usage } from '@crewboard/contracts';

/** Who held an attempt; `unknown`: it was claimed through another process. */
export type HolderKind = Owner['kind'] | 'unknown';

/** How an attempt ended. `submitted`: its result waits for checks or for people. */
export type EndedAs = 'completed' | 'submitted' | 'failed' | 'released' | 'parked' | 'blocked' | 'cancelled';

/** An attempt that is over. */
export interface EndedAttempt {
  outcome: EndedAs;
  /** Of a failed one. */
  failureClass?: FailureClass | undefined;
  holder: HolderKind;
  /** From its claim to its end, by this process' clock; absent when it was claimed elsewhere. */
  heldMs?: number | undefined;
}

/** A request to a model that is over. */
export interface EndedModelCall {
  model: string;
  /** `ok`, the kind of its failure, `aborted`, or `refused` when it was never sent. */
  outcome: string;
  tookMs: number;
}

/** What a process tells of its work as it happens. Nothing here throws or waits, and nobody else may rest on it. */
export interface Metrics {
  attemptStarted(holder: HolderKind): void;
  attemptEnded(end: EndedAttempt): void;
  modelCalled(call: EndedModelCall): void;
  /** A call was booked; `usage` is absent where only its worst case is known. */
  callBooked(kind: 'settled' | 'estimated', usd: number, usage?: Usage): void;
  jobStarted(): void;
  /** A job came to its end; `wastedUsd`: what its failed work had cost by then. */
  jobEnded(status: JobStatus, wastedUsd: number): void;
  /** A board was swept, and found with so many leases that had run out. */
  boardSwept(expiredLeases: number): void;
  /** A board could not be swept. */
  sweepFailed(): void;
  /** A task that was queued and that nobody took was queued again. */
  taskRequeued(): void;
}

const nothing = () => {};

/** For whoever counts nothing. */
export const NO_METRICS: Metrics = {
  attemptStarted: nothing,
  attemptEnded: nothing,
  modelCalled: nothing,
  callBooked: nothing,
  jobStarted: nothing,
  jobEnded: nothing,
  boardSwept: nothing,
  sweepFailed: nothing,
  taskRequeued: nothing,
};
