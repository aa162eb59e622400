import type { Boards, Hold } from '@crewboard/board';
import { messageText } from './mailbox.ts';

/**
 * Messages of people for a holder outside, with the answer of a heartbeat. Each counts as delivered once the holder's
 * next call proves that the answer has come; the same heartbeat again (`requestId`) is shown the same.
 */
export async function showNotices(boards: Boards, hold: Hold, requestId = ''): Promise<string[]> {
  // A second time when all that was read had been shown before, and is delivered now: more may wait behind it.
  for (let tries = 0; tries < 2; tries++) {
    const waiting = await boards.pendingMessages(hold.jobId, hold.taskId);
    if (waiting.length === 0) return [];
    const ids = waiting.map(({ id }) => id);
    const shown = await boards.showMessages(hold, requestId, ids);
    const texts = waiting.filter(({ id }) => shown.includes(id));
    if (texts.length > 0) return texts.map((message) => messageText(message, hold.taskId));
  }
  return [];
}

/** Another call of the holder has come: what it was shown before is delivered. */
export async function confirmNotices(boards: Boards, hold: Hold): Promise<void> {
  const waiting = await boards.waitingMessages(hold.jobId, hold.taskId);
  if (waiting.length > 0) await boards.showMessages(hold, '', []);
}
