import type { Boards, Hold } from '@crewboard/board';
import { BoardWaitInput, FinishJobInput, type Tool } from '@crewboard/contracts';
import { jsonAnswer } from '../board-tools.ts';
import type { Deliveries } from './deliveries.ts';
import { inboxShown, readInbox } from './inbox.ts';
import type { Wait } from './stall.ts';

/** `board_wait`: parks the lead until the board has news. */
export function createBoardWaitTool(
  boards: Boards,
  hold: Hold,
  deliveries: Deliveries,
  wait: (requestId: string) => Promise<Wait>,
): Tool<BoardWaitInput> {
  return {
    name: 'board_wait',
    description:
      'Waits until the board has news: a task failed, is blocked or unreachable, all tasks are settled, or people wrote to you. Answers {news, messages?, counts, allSettled}; the texts of messages follow. Do not poll: wait.',
    inputSchema: BoardWaitInput,
    readOnly: false,
    idempotent: true,
    endsAttempt: true,
    async execute(_input, { requestId }) {
      const answer = await wait(requestId);
      if (answer.kind === 'end') return { content: '', end: answer.end };
      if (answer.kind === 'woken')
        return { content: deliveries.carry(await readInbox(boards, hold.jobId, hold.taskId)) };
      const { counts } = await boards.job(hold.jobId);
      return jsonAnswer(
        {
          code: 'invalid_transition',
          detail:
            'there is nothing to wait for: no task runs or can run. Plan tasks with board_plan, or end with finish_job. Another wait pauses the job until people move it.',
          retry: 'after_fix',
          counts,
        },
        true,
      );
    },
  };
}

/** `finish_job`: one step that ends the job, refused while tasks are open or news is unread. */
export function createFinishJobTool(
  boards: Boards,
  hold: Hold,
  deliveries: Deliveries,
  /** Throws for an output that the job does not allow. */
  refuseUnfitOutput: (output: FinishJobInput['output']) => void,
): Tool<FinishJobInput> {
  return {
    name: 'finish_job',
    description:
      'Ends the job: {summary, output?, waive?: [{taskId, reason}]}. Refused while tasks are open (waive them with a reason: they are cancelled and the job ends partial) or news is unread (the answer carries it). When the job has outputSchema, output must fit it.',
    inputSchema: FinishJobInput,
    readOnly: false,
    idempotent: true,
    endsAttempt: true,
    async execute({ summary, output, waive = [] }, { requestId }) {
      refuseUnfitOutput(output);
      const answer = await boards.finishJob(hold, requestId, { summary, output }, waive);
      if (answer.kind === 'ended') return { content: '', end: { kind: 'done' } };
      // An earlier attempt ended the job by this very call; what has happened since people opened it again answers it.
      if (answer.kind === 'reopened')
        return { content: deliveries.carry(await readInbox(boards, hold.jobId, hold.taskId)) };
      const refusal = { code: 'invalid_transition', retry: 'after_refresh' };
      if (answer.kind === 'open') {
        const { taskIds, openCount } = answer;
        const detail = `${openCount === 1 ? '1 task is' : `${openCount} tasks are`} still open. Nothing was changed. Wait with board_wait, or waive them with a reason.`;
        return { ...jsonAnswer({ ...refusal, detail, openTasks: taskIds, openCount }, true), isNews: true };
      }
      const inbox = await readInbox(boards, hold.jobId, hold.taskId);
      const detail =
        'there is news that you have not seen: here it is. Nothing was changed. Take it into account, then finish.';
      const text = JSON.stringify({ ...refusal, detail, ...inboxShown(inbox) });
      return { content: deliveries.carry(inbox, text), isError: true, isNews: true };
    },
  };
}
