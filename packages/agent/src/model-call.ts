import type Anthropic from '@anthropic-ai/sdk';
import type { ContentBlock, Usage } from '@crewboard/contracts';
import type { CallSpent } from './call-spent.ts';
import { reasonText } from './reason.ts';

/** One request to the Messages API, as the loop builds it. */
export interface ModelRequest {
  model: string;
  system: Anthropic.TextBlockParam[];
  tools: Anthropic.Tool[];
  messages: Anthropic.MessageParam[];
  maxTokens: number;
}

/** A whole reply; `content` is exactly what the model sent, blocks of unknown types included. */
export interface ModelReply {
  messageId: string;
  model: string;
  content: ContentBlock[];
  stopReason: string;
  usage: Usage;
}

export interface CallOptions {
  signal: AbortSignal;
  /** Told when an answer that begins well says that a limit is used up, and how long everybody is to wait. */
  onPauseAsked?: (pauseMs: number) => void;
}

/**
 * Asks the model once, without retries. Rejects with {@link ModelCallError}, with the signal's reason once it is
 * aborted, or with the CrewboardError of a harness that can't tell whether the call may be made (`unavailable`).
 */
export type ModelCall = (request: ModelRequest, options: CallOptions) => Promise<ModelReply>;

/**
 * Why a call failed: `overloaded`, `rate_limited` and `transient` ones may be repeated; `provider` needs a person
 * (key, model name, request); `context` means that the conversation does not fit the model's window; `held` means that
 * the call was not made, because it would have had to wait for too long: `retryAfterMs` says how long.
 */
export type ModelCallErrorKind =
  | 'overloaded'
  | 'rate_limited'
  | 'transient'
  | 'provider'
  | 'context'
  | 'held';

/** What is known of a failed call beside its kind; without `spent` its cost is unknown. */
export interface ModelCallErrorDetails {
  retryAfterMs?: number | undefined;
  status?: number | undefined;
  spent?: CallSpent | undefined;
}

/** A failed model call. Its message is one line for people and never holds secrets or headers. */
export class ModelCallError extends Error {
  readonly kind: ModelCallErrorKind;
  readonly retryAfterMs: number | undefined;
  readonly status: number | undefined;
  /** What it cost all the same. */
  readonly spent: CallSpent;

  constructor(kind: ModelCallErrorKind, message: string, details: ModelCallErrorDetails = {}) {
    super(reasonText(message));
    this.name = 'ModelCallError';
    this.kind = kind;
    this.retryAfterMs = details.retryAfterMs;
    this.status = details.status;
    this.spent = details.spent ?? { kind: 'unknown' };
  }

  /** The same failure but for `changes`: whoever knows more, or less, of it may lose nothing else. */
  with(changes: ModelCallErrorDetails): ModelCallError {
    const { retryAfterMs, status, spent } = this;
    return new ModelCallError(this.kind, this.message, { retryAfterMs, status, spent, ...changes });
  }

  /** The same failure, of a call of which so much is known. */
  having(spent: CallSpent): ModelCallError {
    return this.with({ spent });
  }
}
