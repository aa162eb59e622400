import type { Boards, Hold } from '@crewboard/board';
import { BoardFailInput, CrewboardError, type Journal, type Tool } from '@crewboard/contracts';
import type { z } from 'zod';
import { blamed } from '../checks/blame.ts';

/** A sub-agent writes its own task only; a mistyped ID must not hit another one. */
export function refuseForeign(own: string, taskId: string): void {
  if (taskId === own) return;
  throw new CrewboardError('not_owner', `you work on ${own}, not on ${taskId}`, {
    next: { call: 'again', with: `"taskId": "${own}"` },
  });
}

/**
 * `board_fail`: gives up the own task; class `model`, or `check` when its last submission did not pass. Tried again
 * unless it says that this makes no sense.
 */
export function createBoardFailTool(
  boards: Boards,
  hold: Hold,
  journal: Journal,
  retryDelayMs: number,
): Tool<z.infer<typeof BoardFailInput>> {
  return {
    name: 'board_fail',
    description:
      'Gives up your task with the true reason: {taskId, reason, retryable? (default true)}. Ends your work.',
    inputSchema: BoardFailInput,
    readOnly: false,
    idempotent: true,
    endsAttempt: true,
    async execute({ taskId, reason, retryable = true }, { requestId }) {
      refuseForeign(hold.taskId, taskId);
      await boards.fail(hold, requestId, {
        ...blamed(reason, journal.entries),
        retryable,
        delayMs: retryDelayMs,
        infraStrikes: 1,
      });
      return { content: '', end: { kind: 'done' } };
    },
  };
}
