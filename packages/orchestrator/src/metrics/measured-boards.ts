import type { Boards, Hold } from '@crewboard/board';
import { CrewboardError, type Journal } from '@crewboard/contracts';
import { type HeldAttempts, heldAttempts } from './held-attempts.ts';
import type { Metrics } from './metrics.ts';

const usdOf = (nanoUsd: number) => nanoUsd / 1e9;

/** The reply of an attempt that was over is booked without its journal. */
const isBookedLate = (error: unknown) =>
  error instanceof CrewboardError && ['lease_lost', 'terminal'].includes(error.code);

/** The same journal; what its replies cost is counted. */
function measuredJournal(journal: Journal, metrics: Metrics): Journal {
  return {
    entries: journal.entries,
    async append(entry, settles) {
      const book = () => {
        if (settles !== undefined && entry.kind === 'reply')
          metrics.callBooked('settled', usdOf(settles.nanoUsd), entry.usage);
      };
      await journal.append(entry, settles).catch((error: unknown) => {
        if (isBookedLate(error)) book();
        throw error;
      });
      book();
    },
  };
}

/** The calls by which attempts end. */
function measuredEnds(boards: Boards, attempts: HeldAttempts): Partial<Boards> {
  const thenEnded =
    <Rest extends unknown[], Answer>(
      call: (hold: Hold, ...rest: Rest) => Promise<Answer>,
      outcome: 'released' | 'blocked',
    ) =>
    async (hold: Hold, ...rest: Rest): Promise<Answer> => {
      const answer = await call(hold, ...rest);
      attempts.ended(hold, { outcome });
      return answer;
    };
  return {
    release: thenEnded(boards.release, 'released'),
    block: thenEnded(boards.block, 'blocked'),
    async submit(hold, name, version, result, then = 'complete') {
      const answer = await boards.submit(hold, name, version, result, then);
      attempts.ended(hold, { outcome: then === 'complete' ? 'completed' : 'submitted' });
      return answer;
    },
    async park(hold, name, options) {
      const answer = await boards.park(hold, name, options);
      const end =
        answer === 'failed' ? ({ outcome: answer, failureClass: 'infra' } as const) : { outcome: answer };
      attempts.ended(hold, end);
      return answer;
    },
    async fail(hold, name, failure) {
      await boards.fail(hold, name, failure);
      attempts.ended(hold, { outcome: 'failed', failureClass: failure.class });
    },
    async waitForNews(hold, name) {
      const answer = await boards.waitForNews(hold, name);
      if (answer === 'parked') attempts.ended(hold, { outcome: 'parked' });
      return answer;
    },
    async proposePlan(hold, name, plan) {
      const answer = await boards.proposePlan(hold, name, plan);
      if (answer === 'parked') attempts.ended(hold, { outcome: 'parked' });
      return answer;
    },
    async stall(hold, name, reason) {
      const answer = await boards.stall(hold, name, reason);
      if (answer === 'stalled') attempts.ended(hold, { outcome: 'parked' });
      return answer;
    },
    async finishJob(hold, name, result, waive) {
      const answer = await boards.finishJob(hold, name, result, waive);
      if (answer.kind === 'ended') attempts.ended(hold, { outcome: 'completed' });
      return answer;
    },
  };
}

/**
 * The same boards, but what is done on them through this process is counted. An attempt that somebody else ends (by a
 * cancel, by the sweep) is counted there.
 */
export function measuredBoards(boards: Boards, metrics: Metrics): Boards {
  const attempts = heldAttempts(metrics);
  return {
    ...boards,
    ...measuredEnds(boards, attempts),
    async claim(jobId, input) {
      const claimed = await boards.claim(jobId, input);
      if (claimed !== undefined) attempts.started(claimed.token, input.owner.kind);
      return claimed;
    },
    async flip(jobId, by, fill) {
      const runs = await boards.flip(jobId, by, fill);
      if (runs) metrics.jobStarted();
      return runs;
    },
    async openJournal(hold, options) {
      return measuredJournal(await boards.openJournal(hold, options), metrics);
    },
    async settleCall(hold, callId, cost) {
      await boards.settleCall(hold, callId, cost);
      metrics.callBooked(cost.kind, usdOf(cost.nanoUsd), cost.kind === 'settled' ? cost.usage : undefined);
    },
  };
}
