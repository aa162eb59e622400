import type { Boards, Hold } from '@crewboard/board';
import { createTodoWriteTool, renderPlain, todoWriteEntry } from '@crewboard/checklist';
import { BoardNoteInput, type Journal, newSecret, type Tool } from '@crewboard/contracts';
import type { z } from 'zod';
import { refuseForeign } from './end-tools.ts';

/** `board_note`: a line in the task's log, and the progress that people see under it. */
export function createBoardNoteTool(boards: Boards, hold: Hold): Tool<z.infer<typeof BoardNoteInput>> {
  return {
    name: 'board_note',
    description:
      'Logs a note on your task for people and the lead: {taskId, text, progress?}. Changes nothing else.',
    inputSchema: BoardNoteInput,
    readOnly: false,
    idempotent: true,
    bookkeeping: true,
    async execute({ taskId, text, progress }, { requestId }) {
      refuseForeign(hold.taskId, taskId);
      await boards.note(hold, requestId, text, { progress });
      return { content: 'Noted.' };
    },
  };
}

/** `todo_write`: the private checklist, kept in the journal; its state shows as progress under the board task. */
export function createChecklistTool(
  boards: Boards,
  hold: Hold,
  journal: Journal,
  allowParallelInProgress: boolean,
): Tool {
  return createTodoWriteTool({
    allowParallelInProgress,
    async onUpdate(todos) {
      await journal.append(todoWriteEntry(todos));
      await boards.progress(hold, newSecret(), renderPlain(todos));
    },
  });
}
