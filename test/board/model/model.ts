import { checkAdds } from './adds.ts';
import type { Answer, Call, NewModelTask } from './calls.ts';
import { applyAdds, change } from './changes.ts';
import { claim } from './claim.ts';
import { conclude, log, mustHave, queueLead } from './follow.ts';
import { carryOut, finishJob, sweep, tell } from './hand-over.ts';
import { block, fail, heartbeat, journal, note, park, release, submit, wait } from './holder.ts';
import { cancelJob, endChecks, pause, propose, resolve, resume, startChecks } from './people.ts';
import { OK } from './refusals.ts';
import { rerun } from './reruns.ts';
import { emptyBoard, type ModelBoard, newTask, type Settings, TICK } from './state.ts';

/** The board of a job that has just been submitted with these tasks. */
export function submitted(settings: Settings, tasks: readonly NewModelTask[]): ModelBoard {
  const board = emptyBoard(settings);
  if (settings.lead) {
    const given = {
      title: 'A job',
      content: '',
      priority: 0,
      executor: 'agent' as const,
      onLost: 'hold' as const,
      maxAttempts: 1,
    };
    board.tasks.push(newTask(0, given));
  }
  const plan = checkAdds(board, tasks);
  if ('word' in plan) throw new Error(`the first tasks are refused: ${plan.data}`);
  applyAdds(board, plan, '');
  board.status = settings.lead && tasks.length === 0 ? 'planning' : 'running';
  log(board, 'job.submitted');
  log(board, `job.${board.status}`);
  board.wokenAt = board.now;
  if (settings.lead) queueLead(board, mustHave(board, 0));
  fillFirst(board);
  return board;
}

function fillFirst(board: ModelBoard): void {
  if (board.tasks.some((task) => task.number > 0)) conclude(board, false);
}

function answer(board: ModelBoard, call: Call): Answer {
  switch (call.do) {
    case 'change':
      return change(board, call);
    case 'claim':
      return claim(board, call);
    case 'heartbeat':
      return heartbeat(board, call);
    case 'note':
      return note(board, call);
    case 'journal':
      return journal(board, call);
    case 'submit':
      return submit(board, call);
    case 'fail':
      return fail(board, call);
    case 'release':
      return release(board, call);
    case 'park':
      return park(board, call);
    case 'block':
      return block(board, call);
    case 'propose':
      return propose(board, call);
    case 'resolve':
      return resolve(board, call);
    case 'startChecks':
      return startChecks(board, call);
    case 'endChecks':
      return endChecks(board, call);
    case 'pause':
      return pause(board, call);
    case 'resume':
      return resume(board, call);
    case 'rerun':
      return rerun(board, call);
    case 'cancelJob':
      return cancelJob(board);
    case 'sweep':
      return sweep(board);
    case 'carryOut':
      return carryOut(board, call);
    case 'forget':
      return forget(board, call.item);
    case 'tell':
      return tell(board, call);
    case 'wait':
      return wait(board, call);
    case 'finish':
      return finishJob(board, call);
  }
}

/** An outbox entry that was carried out is removed: that one, not a like one that was written since. */
function forget(board: ModelBoard, item: Extract<Call, { do: 'forget' }>['item']): Answer {
  const at = board.outbox.findIndex((other) => JSON.stringify(other) === JSON.stringify(item));
  if (at >= 0) board.outbox.splice(at, 1);
  return OK;
}

/** One call on a board: what it answers, and the board after it. The board given stays as it is. */
export function step(before: ModelBoard, call: Call): { board: ModelBoard; answer: Answer } {
  const board = structuredClone(before);
  board.now += TICK;
  board.log = [];
  board.edgesLeft = board.settings.slice ?? Number.POSITIVE_INFINITY;
  return { answer: answer(board, call), board };
}
