import { type Actor, type JobLimits, tokensOf, type Usage } from '@crewboard/contracts';
import { z } from 'zod';
import type { BoardIo } from './board-io.ts';
import type { Hold } from './holder-calls.ts';
import type { BoardRecord } from './records.ts';
import { parseReply } from './replies.ts';
import { nanoUsdOf, usdOfNano } from './spend-sums.ts';
import { withoutAbsent } from './without-absent.ts';

const ON_LIMIT = ['pause', 'finish', 'fail'] as const;

const ReserveReply = z.union([
  z.tuple([z.enum(['ok', 'already']), z.number(), z.number()]),
  z.tuple([z.literal('busy'), z.string()]),
  z.tuple([z.literal('exhausted'), z.enum(['park', 'fail']), z.string()]),
  z.tuple([z.literal('unpriced')]),
]);
const SettleReply = z.tuple([z.enum(['ok', 'already'])]);
const Word = z.tuple([z.literal('ok')]);

/** The worst case of a model call. */
export interface WorstCase {
  /** Names the call, also when its reservation or settlement is sent twice. */
  callId: string;
  /** What it can cost: its input as a whole, and each token of output. Absent: nobody has priced the model. */
  price?: { inputNanoUsd: number; outputNanoUsd: number } | undefined;
  inputTokens: number;
  maxTokens: number;
  /** With fewer tokens of output than these the call is not worth making. */
  leastMaxTokens: number;
  /** Rather wait (`busy`) for what calls under way will leave than write less. */
  isPatient?: boolean;
}

export type Reserved =
  /** It may be sent, with so many tokens of output; `usedShare` is how much of the tightest cap is spent (0-1). */
  | { kind: 'reserved'; maxTokens: number; usedShare: number }
  /** Only calls under way are in the way: they will soon have cost less than they might have. */
  | { kind: 'busy'; reason: string }
  /** No cap has room for it. The attempt parks for the job's budget, and fails for its task's own or a lead's last. */
  | { kind: 'exhausted'; attempt: 'park' | 'fail'; reason: string }
  /** There is a cap in USD, and nobody has priced the model. */
  | { kind: 'unpriced' };

/** What is known of a call whose reply stands in no journal. */
export type CallCost =
  | { kind: 'settled'; nanoUsd: number; usage: Usage }
  /** An upper bound: the call ended before its usage was told. */
  | { kind: 'estimated'; nanoUsd: number; tokens: number };

/** New caps of a job: absent ones stay, null takes one away. */
export interface BudgetChange {
  budgetUsd?: number | null | undefined;
  budgetTokens?: number | null | undefined;
  onLimit?: JobLimits['onLimit'] | undefined;
}

/** The caps of a job's limits in the form of scripts. */
export function capsOf({ budgetUsd, budgetTokens, onLimit }: JobLimits): number[] {
  return [nanoUsdOf(budgetUsd ?? 0), budgetTokens ?? 0, ON_LIMIT.indexOf(onLimit)];
}

/** Limits as they are now: the board's caps stand above those of the submit. */
export function capsInForce(limits: JobLimits, board: BoardRecord): JobLimits {
  const { budgetUsd: _, budgetTokens: __, ...rest } = limits;
  return withoutAbsent({
    ...rest,
    budgetUsd: board.budgetNanoUsd > 0 ? usdOfNano(board.budgetNanoUsd) : undefined,
    budgetTokens: board.budgetTokens > 0 ? board.budgetTokens : undefined,
    onLimit: ON_LIMIT[board.onLimit] ?? 'pause',
  });
}

/** Books a call outside any journal; twice is once. `settled` replaces what was reserved or estimated for it. */
export async function settleCall(io: BoardIo, hold: Hold, callId: string, cost: CallCost): Promise<void> {
  const isSettled = cost.kind === 'settled';
  const args = [
    hold.taskId,
    hold.token,
    callId,
    cost.kind,
    cost.nanoUsd,
    isSettled ? tokensOf(cost.usage) : cost.tokens,
    isSettled ? packUsage(cost.usage) : '',
  ];
  parseReply(await io.run(hold.jobId, 'settle_call', args), SettleReply);
}

/** Usage in the form of scripts. */
export function packUsage(usage: Usage): string {
  const { modelCalls, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  return JSON.stringify([modelCalls, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens]);
}

/** What model calls may cost and did cost. */
export function budgets(io: BoardIo) {
  return {
    /**
     * Reserves a call at its worst case and marks it sent, in one step; settled, estimated and reserved together then
     * stay within every cap. A job's budget that is used up trips by its `onLimit`. Errors: those of the token.
     */
    async reserveCall(hold: Hold, call: WorstCase): Promise<Reserved> {
      const reply = parseReply(
        await io.run(hold.jobId, 'reserve', [
          hold.taskId,
          hold.token,
          call.callId,
          call.price?.inputNanoUsd ?? '',
          call.price?.outputNanoUsd ?? '',
          call.inputTokens,
          call.maxTokens,
          Math.min(call.leastMaxTokens, call.maxTokens),
          call.isPatient ? 1 : 0,
        ]),
        ReserveReply,
      );
      switch (reply[0]) {
        case 'busy':
          return { kind: 'busy', reason: reply[1] };
        case 'exhausted':
          return { kind: 'exhausted', attempt: reply[1], reason: reply[2] };
        case 'unpriced':
          return { kind: 'unpriced' };
        default:
          return { kind: 'reserved', maxTokens: reply[1], usedShare: reply[2] / 1000 };
      }
    },

    /** See {@link settleCall}. Any token of the task will do, also after its end. Errors: `not_found`, `not_owner`. */
    settleCall: (hold: Hold, callId: string, cost: CallCost) => settleCall(io, hold, callId, cost),

    /**
     * Raises, lowers or takes away caps of a job; a raised one lifts the pause `budget`. What is spent stays spent:
     * below that, the next call trips. Errors: `not_found`, `terminal` while the job is being cancelled.
     */
    async setBudget(jobId: string, by: Actor, change: BudgetChange): Promise<void> {
      const { budgetUsd, budgetTokens, onLimit } = change;
      const args = [
        `${by.kind}:${by.id}`,
        budgetUsd === undefined ? '' : nanoUsdOf(budgetUsd ?? 0),
        budgetTokens === undefined ? '' : (budgetTokens ?? 0),
        onLimit === undefined ? '' : ON_LIMIT.indexOf(onLimit),
      ];
      parseReply(await io.run(jobId, 'set_budget', args), Word);
    },
  };
}
