import type { Boards, Hold } from '@crewboard/board';
import { BoardFailInput, BoardSubmitInput, CrewboardError, type Tool } from '@crewboard/contracts';
import type { z } from 'zod';
import { nextAfterSubmit, refuseUnfitSubmission } from '../submission.ts';
import type { ShownTask } from './shown-task.ts';

/** A sub-agent writes its own task only; a mistyped ID must not hit another one. */
export function refuseForeign(own: string, taskId: string): void {
  if (taskId === own) return;
  throw new CrewboardError('not_owner', `you work on ${own}, not on ${taskId}. Nothing was changed.`, {
    next: `use "taskId": "${own}"`,
  });
}

/** `board_submit`: completes the own task. */
export function createBoardSubmitTool(boards: Boards, hold: Hold, shown: ShownTask): Tool<BoardSubmitInput> {
  return {
    name: 'board_submit',
    description:
      'Completes your task: {taskId, summary (at most 2 KB), output? (at most 64 KB, or {"ref"} of an artifact), evidence?: [{acceptanceId, kind: "statement", text} or {acceptanceId, kind: "artifact", ref}], artifacts?: refs or paths of what write_artifact stored (default: all)}. Ends your work.',
    inputSchema: BoardSubmitInput,
    readOnly: false,
    idempotent: true,
    endsAttempt: true,
    async execute({ taskId, summary, output, evidence = [], artifacts }, { requestId }) {
      refuseForeign(hold.taskId, taskId);
      const { task } = shown;
      refuseUnfitSubmission(task, evidence);
      const then = nextAfterSubmit(task.policy);
      await boards.submit(hold, requestId, task.version, { summary, output, artifacts, evidence }, then);
      return { content: '', end: { kind: 'done' } };
    },
  };
}

/** `board_fail`: gives up the own task; class `model`, tried again unless it says that this makes no sense. */
export function createBoardFailTool(
  boards: Boards,
  hold: Hold,
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
        class: 'model',
        reason,
        retryable,
        delayMs: retryDelayMs,
        infraStrikes: 1,
      });
      return { content: '', end: { kind: 'done' } };
    },
  };
}
