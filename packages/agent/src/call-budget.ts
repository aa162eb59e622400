import type { CallSettlement, Usage } from '@crewboard/contracts';
import type { CallSpent } from './call-spent.ts';
import type { ModelRequest } from './model-call.ts';

/** A call that may be made once. */
export interface GrantedCall {
  /** Tokens that it may write at most: as many as asked for, or fewer when little is left. */
  maxTokens: number;
  /** Books the call in the same step as the append of its reply; undefined where nobody keeps books. */
  settlement(usage: Usage): CallSettlement | undefined;
  /** Books a call whose reply is not journalled. Never rejects: what stays open is booked at its worst case. */
  settle(spent: CallSpent): Promise<void>;
}

export type Grant =
  | { granted: true; call: GrantedCall }
  /** The money is used up: the attempt is to park, or with `fails` to fail. */
  | { granted: false; fails: boolean; reason: string };

/** Who says whether a model call may be made; the agent asks before every one, retries and summaries included. */
export interface CallBudget {
  /**
   * Reserves the call at its worst case: `inputTokens` at most and the request's `maxTokens`. May wait while other calls
   * are all that is in the way. Rejects with the signal's reason, or a CrewboardError (`lease_lost`, `unavailable`).
   */
  reserve(request: ModelRequest, inputTokens: number, signal: AbortSignal): Promise<Grant>;
  /** How much of the budget was spent when last asked, 0 to 1; 0 without a cap. */
  usedShare(): number;
}

/** Grants every call as it is asked for. */
export const NO_BUDGET: CallBudget = {
  async reserve({ maxTokens }) {
    return {
      granted: true,
      call: { maxTokens, settlement: () => undefined, settle: async () => {} },
    };
  },
  usedShare: () => 0,
};
