import type { Answer, Call } from './calls.ts';
import { reopenJob, reopenTask } from './changes.ts';
import { hasEnded, isOver, taskOf } from './derive.ts';
import { conclude, fillWindow, handOn, liftPauses } from './follow.ts';
import { earlierAnswer, nameOf, refused } from './refusals.ts';
import type { ModelBoard } from './state.ts';

/** People run tasks again: which ones is fixed at once, and an ended job is open; the tasks follow in slices. */
export function rerun(board: ModelBoard, call: Extract<Call, { do: 'rerun' }>): Answer {
  const name = nameOf(call);
  const content = JSON.stringify(['rerun', call.tasks]);
  const earlier = earlierAnswer(board, name, content);
  if (earlier !== undefined) return 'word' in earlier ? earlier : { word: 'ok', data: earlier.data };
  if (board.cancelling && !hasEnded(board)) return refused('terminal');
  if (call.tasks.length === 0) return refused('not_found');
  board.rerunsSoFar += 1;
  const number = board.rerunsSoFar;
  board.reruns.push({ number, left: [...call.tasks] });
  handOn(board, 'rerun', number);
  reopenJob(board, false);
  liftPauses(board, 'stall');
  const data = { rerun: number, matched: call.tasks.length };
  if (name !== undefined) board.answers.push({ request: name, content, data });
  return { word: 'ok', data };
}

/** Opens some of the tasks that a rerun chose; those that have changed since stay as they are. */
export function carryOnRerun(board: ModelBoard, number: number): void {
  const rerun = board.reruns.find((entry) => entry.number === number);
  if (rerun === undefined) return;
  if (hasEnded(board) || board.cancelling) rerun.left = [];
  for (const { task: of, version } of rerun.left.splice(0, board.settings.slice ?? rerun.left.length)) {
    const task = taskOf(board, of);
    if (task !== undefined && isOver(task) && !task.outside && task.version === version)
      reopenTask(board, task);
  }
  if (rerun.left.length > 0) {
    handOn(board, 'rerun', number);
    fillWindow(board);
  } else {
    board.reruns = board.reruns.filter((entry) => entry !== rerun);
    conclude(board);
  }
}
