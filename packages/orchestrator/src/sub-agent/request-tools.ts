import type { Boards, Hold } from '@crewboard/board';
import { BoardBlockInput, BoardProposeInput, type Tool } from '@crewboard/contracts';
import type { z } from 'zod';
import { jsonAnswer } from '../board-tools.ts';
import { refuseForeign } from './end-tools.ts';

/** `board_block`: the own task can't go on without somebody's answer, or before another task. */
export function createBoardBlockTool(boards: Boards, hold: Hold): Tool<z.infer<typeof BoardBlockInput>> {
  return {
    name: 'board_block',
    description:
      'Stops your task because it needs something: {taskId, kind: "needs_input"|"needs_decision"|"capability"|"external", reason}, or {taskId, kind: "dependency", reason, on: taskId} to wait for another task. Ends your work for now; the answer reaches whoever goes on.',
    inputSchema: BoardBlockInput,
    readOnly: false,
    idempotent: true,
    endsAttempt: true,
    async execute({ taskId, kind, reason, on }, { requestId }) {
      refuseForeign(hold.taskId, taskId);
      await boards.block(hold, requestId, { kind, reason, on });
      return { content: '', end: { kind: 'done' } };
    },
  };
}

/** `board_propose`: a task that the plan lacks; it is held until the lead or a person accepts it. */
export function createBoardProposeTool(
  boards: Boards,
  hold: Hold,
  workerId: string,
): Tool<z.infer<typeof BoardProposeInput>> {
  return {
    name: 'board_propose',
    description:
      'Proposes another task: {title, instructions?, dependsOn?}. It waits until the lead or a person accepts it; go on with your own.',
    inputSchema: BoardProposeInput,
    readOnly: false,
    idempotent: true,
    async execute(task, { requestId }) {
      const by = { kind: 'sub-agent' as const, id: workerId };
      return jsonAnswer(await boards.propose(hold, requestId, task, by));
    },
  };
}
