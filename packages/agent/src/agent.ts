import type { AttemptEnd, FailureClass, Journal, Tool, Usage, WholeOutput } from '@crewboard/contracts';
import type { CallBudget } from './call-budget.ts';
import type { ModelCall, ModelCallErrorKind } from './model-call.ts';
import type { WorkState } from './work-state.ts';

/** All finite; numbers of things are whole and from 1. A time beyond what a timer can wait (24.8 days) is as long as that. */
export interface AgentLimits {
  /** Model calls of one attempt that were answered. */
  maxTurns: number;
  /** For tools that name no timeout of their own. */
  toolTimeoutMs: number;
  parallelTools: number;
  /** Calls in a row that may fail before the attempt parks ... */
  modelTries: number;
  /** ... and how long it may wait between them in all. */
  modelRetryMs: number;
  /** Of one tool result, in UTF-16 code units. */
  maxResultChars: number;
  /** Of this run as a whole. */
  timeoutMs: number;
}

export interface AgentOptions {
  model: string;
  /** Of one reply; a cut reply is asked for again with twice as many. Default 8192. */
  maxTokens?: number;
  system: string;
  /** Names are unique, of 1 to 64 letters, digits, `_` or `-`; schemas are objects at the top. */
  tools: readonly Tool[];
  /**
   * Its store bounds its appends: an append under way is waited for, whatever the signal and the time limit say, for
   * nothing may be appended after the run.
   */
  journal: Journal;
  callModel: ModelCall;
  /** Asked before every model call, and told of what each has used. Absent: none is limited or booked. */
  budget?: CallBudget;
  /** Texts of the first user message, not all blank; journalled when the conversation is empty or begins anew. */
  opening: readonly string[];
  /** Begins the conversation anew, such as after a failure; what was before is history. */
  fresh?: boolean;
  /** The number of this attempt: entries with it are the attempt's own. */
  attempt: number;
  /** Texts for the model when this attempt goes on with an existing conversation: news, feedback, changes. */
  continuation?: readonly string[];
  /** The answer of the call that ended the previous attempt, such as a parked `board_wait`: the news. */
  endedCallAnswer?: string;
  /** Texts to deliver before the next model call: steering, an edited task. */
  notices?: () => Promise<readonly string[]>;
  /**
   * Asked when a turn ends without a tool call. An end ends the attempt with it (a lead's plain turn is its wait);
   * undefined lets the loop nudge the model.
   */
  plainEnding?: () => Promise<AttemptEnd | undefined>;
  /** Asked before each model call: a reason parks the attempt there, with all that was asked for so far done. */
  parkAsked?: () => string | undefined;
  /** Until a person approves the plan: only read-only tools and these run; the others stay listed. */
  planMode?: { allows: readonly string[] };
  /** The model's context window in tokens, where the published one is not the one in use. */
  contextWindow?: number;
  /** What the agent has in hand, for a conversation whose turns before the journal index `keepFrom` are left out. */
  workState?: (keepFrom: number) => Promise<WorkState>;
  /**
   * Keeps the whole of an output that the model is not shown whole, and answers the ref to read it by. Absent: what is
   * cut is gone. A rejection is told to the model, no more.
   */
  keepWhole?: (whole: WholeOutput, call: { requestId: string; signal: AbortSignal }) => Promise<string>;
  limits: AgentLimits;
  /** Reminds the model of its checklist after three rounds without it. */
  checklistRemind?: boolean;
  /** How to wait between failing calls; rejects when the signal aborts. Real time by default. */
  wait?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Told what happens, as it happens; what it throws is ignored. */
  emit(event: AgentEvent): void;
  /** Ends the run at once; its reason is carried through. */
  signal: AbortSignal;
}

/** What happens in a run. Durations are in ms; texts may hold anything a model wrote. */
export type AgentEvent =
  | { type: 'turn.started'; turn: number }
  | { type: 'reply'; turn: number; model: string; stopReason: string; usage: Usage }
  | { type: 'model.retry'; failedTries: number; waitMs: number; kind: ModelCallErrorKind; reason: string }
  | { type: 'tool.started'; toolUseId: string; name: string }
  | { type: 'tool.ended'; toolUseId: string; name: string; isError: boolean; durationMs: number }
  | { type: 'nudged'; empty: boolean }
  | { type: 'compacted'; summarised: boolean }
  | { type: 'stopped'; outcome: AgentOutcome };

/** Why a run stopped. `reason` is one sentence for people. */
export type AgentEnd =
  /** A tool said that the work is done. */
  | { kind: 'done' }
  /** A tool parked the attempt. */
  | { kind: 'parked'; cause: 'tool'; reason: string }
  /** The caller asked for it ({@link AgentOptions.parkAsked}), such as for a pause. */
  | { kind: 'parked'; cause: 'asked'; reason: string }
  /** Model calls kept failing; `retryAfterMs` is what the provider asked for last. */
  | {
      kind: 'parked';
      cause: 'model';
      error: ModelCallErrorKind;
      reason: string;
      retryAfterMs?: number | undefined;
    }
  /** The next model call may not be made before `retryAfterMs` are over: nobody's failure. */
  | { kind: 'parked'; cause: 'held'; reason: string; retryAfterMs: number }
  /** A tool, or the harness for the model, gave up. */
  | { kind: 'failed'; class: FailureClass; reason: string }
  /** The model refused to go on. */
  | { kind: 'refused'; reason: string }
  /** Replies were cut although more tokens were allowed each time. */
  | { kind: 'truncated'; reason: string }
  /** The conversation does not fit the model's window. */
  | { kind: 'context'; reason: string }
  | { kind: 'limit'; bound: 'turns' | 'time'; reason: string }
  /** The budget has no room for another call: to be gone on with once it has, or with `fails` a failure. */
  | { kind: 'budget'; fails: boolean; reason: string }
  /** The provider refuses the call itself (key, model name, request): no failure of the task. */
  | { kind: 'provider'; reason: string }
  /** The signal's reason, or the CrewboardError of a journal that could not be written (`lease_lost`, `unavailable`). */
  | { kind: 'aborted'; reason: unknown };

/** How a run ended; `turns` and `usage` are those of the whole attempt so far, by its journal. */
export type AgentOutcome = AgentEnd & { turns: number; usage: Usage };
