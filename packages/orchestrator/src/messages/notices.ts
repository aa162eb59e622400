import type { Boards, Hold } from '@crewboard/board';
import { messageText } from './mailbox.ts';

/** Messages of people for a holder outside: told once, with the answer of a heartbeat. */
export async function takeNotices(boards: Boards, hold: Hold): Promise<string[]> {
  const waiting = await boards.pendingMessages(hold.jobId, hold.taskId);
  if (waiting.length === 0) return [];
  const ids = waiting.map(({ id }) => id);
  const taken = await boards.takeMessages(hold, ids);
  return waiting.filter(({ id }) => taken.includes(id)).map((message) => messageText(message, hold.taskId));
}
