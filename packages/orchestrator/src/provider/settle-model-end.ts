import type { AgentOutcome } from '@crewboard/agent';
import type { Boards, Hold } from '@crewboard/board';
import type { ParkCause } from '@crewboard/contracts';
import type { AttemptCalls } from './attempt-calls.ts';

/** Longest park. */
const PARK_MOST_MS = 600_000;
const PARKS_LOOKED_AT = 10;

interface ParkDependencies {
  boards: Pick<Boards, 'attempts'>;
  settings: { parkMs: number; infraStrikes: number };
}

/** How an attempt parks whose model calls came to nothing: arguments of the board's `park`. */
export interface Park {
  delayMs: number;
  reason: string;
  strikesToFail: number | 'kept';
  cause?: ParkCause | undefined;
}

export type ModelPark = Exclude<Extract<AgentOutcome, { kind: 'parked' }>, { cause: 'tool' | 'asked' }>;

/** How long to park: doubling with each park in a row that had no cause outside the attempt, to ten minutes. */
async function parkMs({ boards, settings }: ParkDependencies, hold: Hold, attempt: number): Promise<number> {
  const earlier = await boards.attempts(hold.jobId, hold.taskId, attempt - 1, PARKS_LOOKED_AT);
  const blamed = earlier.filter(({ outcome, cause }) => outcome !== 'parked' || cause === undefined);
  const others = blamed.findLastIndex(({ outcome }) => outcome !== 'parked');
  return Math.min(settings.parkMs * 2 ** (blamed.length - 1 - others), PARK_MOST_MS);
}

/**
 * What failing or held calls mean for their attempt: a strike when the model works for others, else a park that costs
 * nothing. Asks for a probe where nobody knows, so it may take as long as that.
 */
export async function parkForModel(
  dependencies: ParkDependencies,
  { hold, attempt, calls }: { hold: Hold; attempt: number; calls: AttemptCalls },
  outcome: ModelPark,
  signal: AbortSignal,
): Promise<Park> {
  if (outcome.cause === 'held') {
    const { retryAfterMs, reason } = outcome;
    return { delayMs: retryAfterMs, reason, strikesToFail: 'kept', cause: calls.heldBy() };
  }
  const excuse = await calls.excuse(outcome, signal);
  const delayMs = Math.max(await parkMs(dependencies, hold, attempt), outcome.retryAfterMs ?? 0);
  if (excuse === undefined) {
    return { delayMs, reason: outcome.reason, strikesToFail: dependencies.settings.infraStrikes };
  }
  const { reason, cause } = excuse;
  return { delayMs: excuse.delayMs ?? delayMs, reason, strikesToFail: 'kept', cause };
}
