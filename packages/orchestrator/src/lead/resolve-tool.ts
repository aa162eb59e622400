import type { Boards, Hold } from '@crewboard/board';
import { type Actor, BoardResolveInput, type Tool } from '@crewboard/contracts';
import type { z } from 'zod';
import { jsonAnswer } from '../board-tools.ts';
import { warningsOfAll } from '../warnings.ts';

type Input = z.infer<typeof BoardResolveInput>;

/** `board_resolve`: the lead's word on a task that is blocked, in review, proposed or failed. */
export function createBoardResolveTool(boards: Boards, hold: Hold, by: Actor): Tool<Input> {
  return {
    name: 'board_resolve',
    description:
      'Decides about a task that waits: {taskId, version, decision: "unblock"|"approve"|"reject"|"retry", text?}. unblock: text is the answer; approve and reject: a review or a proposal; retry: a failed or cancelled task again. Answers {taskId, version}.',
    inputSchema: BoardResolveInput,
    readOnly: false,
    idempotent: true,
    async execute({ taskId, version, decision, text = '' }, { requestId }) {
      const lead = { token: hold.token, requestId };
      const { jobId } = hold;
      if (decision === 'approve' || decision === 'reject') {
        const resolved = await boards.resolve(jobId, { taskId, version, decision, text, by, lead });
        return jsonAnswer({ taskId, version: resolved.version });
      }
      const reopens = [{ taskId, version, reason: text }];
      const now =
        decision === 'unblock'
          ? (await boards.resolve(jobId, { taskId, version, decision, text, by, lead })).version
          : (await boards.change(jobId, { by, lead, reopens })).changed[0]?.version;
      const warnings = await warningsOfAll(boards, jobId, [taskId]);
      return jsonAnswer({ taskId, version: now, ...(warnings.length > 0 && { warnings }) });
    },
  };
}
