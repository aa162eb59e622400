import type { Boards, Hold } from '@crewboard/board';
import type { AttemptEnd, Journal } from '@crewboard/contracts';

/** The journal's note that the lead was told that there is nothing to wait for. */
const NUDGED_NOTE = 'lead/nudged';
const STALLED = 'the lead has nothing to wait for and does nothing';
/** The board may begin to move between two looks; it can't go on for ever. */
const LOOKS = 3;

/** True when the lead was told in this attempt, and nothing that it did since has changed anything. */
function wasNudged({ entries }: Journal, attempt: number): boolean {
  const at = entries.findLastIndex(
    (entry) => entry.kind === 'note' && entry.name === NUDGED_NOTE && entry.attempt === attempt,
  );
  if (at < 0) return false;
  const since = entries.slice(at);
  const started = new Set(since.flatMap((entry) => (entry.kind === 'tool.started' ? [entry.toolUseId] : [])));
  return !since.some(
    (entry) => entry.kind === 'tool.result' && !entry.isError && started.has(entry.toolUseId),
  );
}

/** What a wait of the lead comes to. */
export type Wait =
  | { kind: 'end'; end: AttemptEnd }
  /** An earlier attempt made this very wait, and it is over. */
  | { kind: 'woken' }
  /** There is nothing to wait for, and the lead is to be told so. */
  | { kind: 'nudge' };

/**
 * Waits for news, whether by `board_wait` or by a turn in plain text. With nothing to wait for the lead is told once;
 * the second time the job pauses (`stall`), or the lead fails when there is no task at all.
 */
export async function waitForNews(
  boards: Boards,
  hold: Hold,
  requestId: string,
  journal: Journal,
  attempt: number,
): Promise<Wait> {
  for (let looks = 0; looks < LOOKS; looks++) {
    const answer = await boards.waitForNews(hold, requestId);
    if (answer === 'parked') return { kind: 'end', end: { kind: 'parked', reason: 'waits for news' } };
    if (answer === 'woken') return { kind: 'woken' };
    if (!wasNudged(journal, attempt)) break;
    const stalled = await boards.stall(hold, requestId, STALLED);
    if (stalled === 'stalled') return { kind: 'end', end: { kind: 'parked', reason: STALLED } };
    if (stalled === 'empty') {
      const reason = 'the lead planned no task, and there is nothing to wait for';
      return { kind: 'end', end: { kind: 'failed', class: 'model', reason } };
    }
  }
  await journal.append({ kind: 'note', name: NUDGED_NOTE, data: {} });
  return { kind: 'nudge' };
}
