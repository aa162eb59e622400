import type { BlockKind, Condition, FailureClass } from '@crewboard/contracts';

/** What is done to a board, in the model's own names, and what comes back. */

export type Reference = { task: number } | { key: string };

export interface NewModelTask {
  key?: string;
  title: string;
  dependsOn: { on: Reference; condition: Condition }[];
  onLost: 'hold' | 'cancel';
  priority: number;
  executor: 'agent' | 'external';
  maxAttempts?: number;
  replaces?: Reference;
}

export interface Patch {
  replaces?: number;
  title?: string;
  priority?: number;
  executor?: 'agent' | 'external';
  maxAttempts?: number;
  onLost?: 'hold' | 'cancel';
  dependsOn?: NewModelTask['dependsOn'];
}

export interface Change {
  do: 'change';
  /** The lead's claim; without one a person does it. */
  lead?: number;
  request?: string;
  adds: NewModelTask[];
  edits: { task: number; version: number; patch: Patch }[];
  cancels: { task: number; version: number; cascade: boolean }[];
  reopens: { task: number; version: number }[];
}

export type Lease = 'none' | 'short' | 'long';
export type Delay = 'none' | 'soon' | 'far';

/** A call of a holder: the task and the claim that proves it. */
interface Held {
  task: number;
  claim: number;
}

export type Call =
  | Change
  | {
      do: 'claim';
      owner: string;
      /** Absent: the next one for external holders. */
      task?: number;
      request: string;
      lease: Lease;
      expected?: number;
    }
  | (Held & { do: 'heartbeat'; lease: Lease | 'same' })
  | (Held & { do: 'note'; request: string })
  | (Held & { do: 'journal'; entry: 'reply' | 'started' | 'result' | 'start' })
  | (Held & { do: 'submit'; request: string; version: number; to: 'complete' | 'checks' | 'review' })
  | (Held & {
      do: 'fail';
      request: string;
      class: FailureClass;
      retryable: boolean;
      delay: Delay;
      version?: number;
    })
  | (Held & { do: 'release'; request: string; version?: number })
  | (Held & { do: 'park'; request: string; delay: Delay; strikes: number })
  | (Held & { do: 'block'; request: string; kind: BlockKind; on?: number; version?: number })
  | (Held & { do: 'propose'; request: string; new: NewModelTask })
  | {
      do: 'resolve';
      lead?: number;
      request?: string;
      task: number;
      version: number;
      decision: 'unblock' | 'approve' | 'reject';
    }
  | { do: 'startChecks'; task: number; lease: Lease }
  | { do: 'endChecks'; task: number; runner: number; version: number; passed: boolean; delay: Delay }
  | { do: 'pause'; cause: string }
  | { do: 'resume'; cause?: string }
  /** People run tasks again that they saw at these versions. */
  | { do: 'rerun'; request?: string; tasks: { task: number; version: number }[] }
  | { do: 'cancelJob' }
  | { do: 'sweep' }
  /** `task`: of a rerun its number. */
  | { do: 'carryOut'; kind: 'dispatch' | 'settle' | 'lost' | 'cancel' | 'cascade' | 'rerun'; task: number }
  | { do: 'forget'; item: { kind: string; task: number; attempt: number; dispatch: number } }
  | (Held & { do: 'tell' })
  | (Held & { do: 'wait'; request: string })
  | (Held & { do: 'finish'; request: string; waive: number[] });

/** An answer in words; `data` is what else must agree. A refusal is `{word: 'refused', data: code}`. */
export interface Answer {
  word: string;
  data?: unknown;
}

/** Attempts that end as infra at so many strikes. */
export const STRIKES = 3;
