import type { CallBudget, CallSpent, Grant, GrantedCall, ModelRequest } from '@crewboard/agent';
import type { Boards, CallCost, Hold, Reserved, WorstCase } from '@crewboard/board';
import { NO_USAGE, newSecret, type Usage } from '@crewboard/contracts';
import { pause } from './lease.ts';
import type { Log } from './log.ts';
import { type Prices, unpriced } from './prices.ts';

/** With fewer tokens of output than these an agent gets nothing done. */
const LEAST_MAX_TOKENS = 1024;
/** How long calls under way are waited for before the attempt writes less, or gives its place to another one. */
const BUSY_WAIT_MS = 20_000;
const BUSY_POLL_MS = { first: 50, most: 1000 };

interface BudgetDependencies {
  boards: Boards;
  prices: Prices;
  log: Log;
}

/** What of a failed call's cost is known; undefined when nothing is: then its worst case stands. */
function costOf(prices: Prices, { model, maxTokens }: ModelRequest, spent: CallSpent): CallCost | undefined {
  const nanoUsd = (usage: Usage) => prices.nanoUsdOf(model, usage) ?? 0;
  switch (spent.kind) {
    case 'nothing':
      return { kind: 'settled', nanoUsd: 0, usage: NO_USAGE };
    case 'used':
      return { kind: 'settled', nanoUsd: nanoUsd(spent.usage), usage: spent.usage };
    case 'begun': {
      const { inputTokens, cacheReadTokens, cacheWriteTokens } = spent.usage;
      const most = { ...spent.usage, outputTokens: maxTokens };
      const tokens = inputTokens + cacheReadTokens + cacheWriteTokens + maxTokens;
      return { kind: 'estimated', nanoUsd: nanoUsd(most), tokens };
    }
    case 'unknown':
      return undefined;
  }
}

/**
 * The budget of one attempt's model calls, kept by its board. A call is reserved at its worst case before it is sent, so
 * that all calls of all workers together stay within the caps; it is settled by its usage as soon as that is known.
 */
export function createCallBudget({ boards, prices, log }: BudgetDependencies, hold: Hold): CallBudget {
  let usedShare = 0;
  /** After a reply was cut where little was left, less than a whole one is not worth asking for. */
  let wasCutShort = false;

  function grantedCall(request: ModelRequest, callId: string, wanted: number): GrantedCall {
    const { model, maxTokens } = request;
    return {
      maxTokens,
      settlement(usage) {
        wasCutShort = maxTokens < wanted && usage.outputTokens >= maxTokens;
        return { callId, nanoUsd: prices.nanoUsdOf(model, usage) ?? 0 };
      },
      async settle(spent) {
        const cost = costOf(prices, request, spent);
        if (cost === undefined) return;
        await boards.settleCall(hold, callId, cost).catch((error: unknown) => {
          log.warn(
            { jobId: hold.jobId, taskId: hold.taskId, err: error },
            'a call is not settled: it counts at its worst case',
          );
        });
      },
    };
  }

  /** Waits a while for what calls under way will leave, then takes what there is. */
  async function untilDecided(call: WorstCase, signal: AbortSignal): Promise<Reserved> {
    const until = performance.now() + BUSY_WAIT_MS;
    let pollMs = BUSY_POLL_MS.first;
    for (;;) {
      const isPatient = performance.now() < until;
      const reserved = await boards.reserveCall(hold, { ...call, isPatient });
      if (reserved.kind !== 'busy' || !isPatient) return reserved;
      await pause(pollMs * (0.5 + Math.random()), signal);
      signal.throwIfAborted();
      pollMs = Math.min(pollMs * 2, BUSY_POLL_MS.most);
    }
  }

  return {
    usedShare: () => usedShare,
    async reserve(request, inputTokens, signal): Promise<Grant> {
      const { model, maxTokens } = request;
      const callId = newSecret();
      const worst: WorstCase = {
        callId,
        price: prices.worstPriceOf(model, inputTokens, maxTokens),
        inputTokens,
        maxTokens,
        leastMaxTokens: wasCutShort ? maxTokens : LEAST_MAX_TOKENS,
      };
      const reserved = await untilDecided(worst, signal);
      switch (reserved.kind) {
        case 'reserved':
          usedShare = reserved.usedShare;
          return {
            granted: true,
            call: grantedCall({ ...request, maxTokens: reserved.maxTokens }, callId, maxTokens),
          };
        case 'busy':
          return { granted: false, fails: false, reason: reserved.reason };
        case 'exhausted':
          return { granted: false, fails: reserved.attempt === 'fail', reason: reserved.reason };
        case 'unpriced':
          return { granted: false, fails: true, reason: unpriced(model) };
      }
    },
  };
}
