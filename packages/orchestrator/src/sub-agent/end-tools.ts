import type { Boards, Hold } from '@crewboard/board';
import {
  BoardFailInput,
  BoardSubmitInput,
  CrewboardError,
  type Evidence,
  type Task,
  type Tool,
} from '@crewboard/contracts';
import type { z } from 'zod';
import type { ShownTask } from './shown-task.ts';

/** A sub-agent writes its own task only; a mistyped ID must not hit another one. */
export function refuseForeign(own: string, taskId: string): void {
  if (taskId === own) return;
  throw new CrewboardError('not_owner', `you work on ${own}, not on ${taskId}. Nothing was changed.`, {
    next: `use "taskId": "${own}"`,
  });
}

/** Policy `evidence`: each acceptance item needs a statement or an artifact of its own. */
function refuseMissingEvidence(task: Task, evidence: readonly Evidence[]): void {
  const unknown = evidence.find(
    (item) => item.acceptanceId !== undefined && !task.acceptance.some(({ id }) => id === item.acceptanceId),
  );
  if (unknown !== undefined) {
    throw new CrewboardError(
      'invalid_argument',
      `evidence names acceptance "${unknown.acceptanceId}", which this task does not have. Nothing was changed.`,
      { allowed: task.acceptance.map(({ id }) => id) },
    );
  }
  if (task.policy !== 'evidence') return;
  const missing = task.acceptance.filter(({ id }) => !evidence.some((item) => item.acceptanceId === id));
  if (missing.length === 0) return;
  throw new CrewboardError(
    'evidence_required',
    `this task needs evidence for ${missing.map(({ id }) => id).join(', ')}. Nothing was changed.`,
    {
      missing: missing.map(({ id, text }) => ({ acceptanceId: id, text })),
      example: {
        evidence: [{ acceptanceId: missing[0]?.id, kind: 'statement', text: 'what shows that it holds' }],
      },
    },
  );
}

/** `board_submit`: completes the own task. */
export function createBoardSubmitTool(boards: Boards, hold: Hold, shown: ShownTask): Tool<BoardSubmitInput> {
  return {
    name: 'board_submit',
    description:
      'Completes your task: {taskId, summary (at most 2 KB), output?, evidence?: [{acceptanceId, kind: "statement", text}]}. Ends your work.',
    inputSchema: BoardSubmitInput,
    readOnly: false,
    idempotent: true,
    endsAttempt: true,
    async execute({ taskId, summary, output, evidence = [], artifacts = [] }, { requestId }) {
      refuseForeign(hold.taskId, taskId);
      if (artifacts.length > 0 || evidence.some((item) => item.kind !== 'statement')) {
        throw new CrewboardError(
          'invalid_argument',
          'artifacts are not supported by this version: put the result into output and evidence of kind "statement". Nothing was changed.',
        );
      }
      const { task } = shown;
      refuseMissingEvidence(task, evidence);
      const then = task.policy === 'approved' ? 'review' : 'complete';
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
