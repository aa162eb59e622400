import type { BlockKind, Condition, FailureClass } from '@crewboard/contracts';
import type { Delay, Lease, Patch } from './calls.ts';
import type { Settings } from './state.ts';

/**
 * Commands as a generator makes them: small numbers that pick something of what is there when the command's turn
 * comes, so that any list of them means something and a shorter list still does.
 */

export interface AddCommand {
  key: number | null;
  title: 'A' | 'B';
  on: { pick: number; condition: Condition }[];
  onLost: 'hold' | 'cancel';
  priority: number;
  executor: 'agent' | 'external';
  maxAttempts: number | null;
  replaces: number | null;
}

export interface PatchCommand extends Omit<Patch, 'dependsOn' | 'replaces'> {
  replaces?: number;
  on?: AddCommand['on'];
}

/** How a holder proves itself: by a claim that is current, by any claim ever made, or by that of another task. */
export type Proof = { pick: number; proof: 'current' | 'any' | 'foreign'; request: number | null };
/** The version named: the one now or the one before. */
export type Stale = { stale: boolean };

export type Command =
  | {
      do: 'change';
      asLead: boolean;
      request: number | null;
      adds: AddCommand[];
      edits: (Stale & { pick: number; patch: PatchCommand })[];
      cancels: (Stale & { pick: number; cascade: boolean })[];
      reopens: (Stale & { pick: number })[];
    }
  | { do: 'claim'; who: number; pick: number | null; request: number | null; lease: Lease }
  | { do: 'deliver'; pick: number; who: number; lease: Lease; forget: boolean }
  | (Proof & { do: 'heartbeat'; lease: Lease | 'same' })
  | (Proof & { do: 'note' })
  | (Proof & { do: 'journal'; entry: 'reply' | 'started' | 'result' | 'start' })
  | (Proof & Stale & { do: 'submit'; to: 'complete' | 'checks' | 'review' })
  | (Proof & { do: 'fail'; class: FailureClass; retryable: boolean; delay: Delay })
  | (Proof & { do: 'release' })
  | (Proof & { do: 'park'; delay: Delay; strikes: number })
  | (Proof & { do: 'block'; kind: BlockKind; on: number })
  | (Proof & { do: 'propose'; new: AddCommand })
  | (Stale & {
      do: 'resolve';
      asLead: boolean;
      pick: number;
      accept: boolean;
      wrong: boolean;
      request: number | null;
    })
  | { do: 'startChecks'; pick: number; lease: Lease }
  | (Stale & { do: 'endChecks'; pick: number; passed: boolean; delay: Delay })
  | { do: 'pause'; cause: 'user' | 'stall' }
  | { do: 'resume'; cause: 'user' | 'stall' | null }
  | { do: 'rerun'; tasks: (Stale & { pick: number })[]; request: number | null }
  | { do: 'cancelJob' }
  | { do: 'sweep' }
  | { do: 'tell'; pick: number }
  | { do: 'wait'; pick: number; request: number | null }
  | { do: 'finish'; pick: number; request: number | null; waive: boolean }
  | { do: 'leadEnds'; pick: number; how: 'release' | 'fail' | 'park'; delay: Delay; request: number | null };

/** A whole run: how the job was submitted and what then happened. */
export interface Scenario {
  settings: Settings;
  tasks: AddCommand[];
  commands: Command[];
}

/** Commands of a holder. */
export type HolderCommand = Extract<Command, Proof>;
