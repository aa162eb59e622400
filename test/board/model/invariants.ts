import { isDeepStrictEqual } from 'node:util';
import type { Answer, Call } from './calls.ts';
import { countsOf, edgeState, hasEnded, isOver, plannedOf, readinessOf, taskOf } from './derive.ts';
import { makeMove } from './explore.ts';
import type { Game, State } from './games.ts';
import type { ModelBoard, ModelTask } from './state.ts';

/** What holds after every step whatever was done, each as a check that says what it found. */

type Check = (before: ModelBoard, call: Call, answer: Answer, after: ModelBoard) => string | undefined;

/** What others plan with: any change of it moves the version. */
const specOf = ({ status, priority, executor, onLost, maxAttempts, dependsOn, owner }: ModelTask) => ({
  status,
  priority,
  executor,
  onLost,
  maxAttempts,
  owner,
  dependsOn: dependsOn.map(({ on, condition }) => ({ on, condition })),
});

const forTasks =
  (check: (task: ModelTask, before: ModelTask | undefined, call: Call) => string | undefined): Check =>
  (before, call, _, after) => {
    for (const task of plannedOf(after)) {
      const found = check(task, taskOf(before, task.number), call);
      if (found !== undefined) return `task ${task.number}: ${found}`;
    }
    return undefined;
  };

const oneHolder = forTasks((task) => {
  const last = task.attempts.at(-1);
  const isHeld = task.status === 'in_progress';
  if (isHeld !== (task.claim !== undefined)) return `${task.status} with claim ${task.claim}`;
  if (isHeld && (last?.claim !== task.claim || last?.owner !== task.owner))
    return 'held by no attempt of its own';
  const over = isHeld ? task.attempts.slice(0, -1) : task.attempts;
  return over.every((attempt) => attempt.outcome !== undefined)
    ? undefined
    : 'an earlier attempt has not ended';
});

const versionsMove = forTasks((task, before) => {
  if (before === undefined) return undefined;
  if (task.version < before.version) return 'its version went back';
  const changed = !isDeepStrictEqual(specOf(before), specOf(task));
  return changed && task.version === before.version ? 'it changed below its version' : undefined;
});

const completedStays = forTasks((task, before, call) => {
  if (before?.status !== 'completed' || task.status === 'completed') return undefined;
  const isReopened = call.do === 'change' && call.reopens.some((reopen) => reopen.task === task.number);
  return isReopened ? undefined : `completed became ${task.status}`;
});

/** A write at a version that is not the current one changes nothing. */
const noLostUpdate: Check = (before, call, answer) => {
  const named =
    call.do === 'change'
      ? [...call.edits, ...call.cancels, ...call.reopens]
      : call.do === 'submit'
        ? [{ task: call.task, version: call.version }]
        : [];
  const isStale = named.some(({ task, version }) => taskOf(before, task)?.version !== version);
  return isStale && answer.word === 'ok' ? 'a stale version was taken' : undefined;
};

const refusalsChangeNothing: Check = (before, _, answer, after) => {
  if (answer.word !== 'refused' && answer.word !== 'already') return undefined;
  const bare = ({ now: _now, log: _log, edgesLeft: _left, ...board }: ModelBoard) => board;
  return isDeepStrictEqual(bare(before), bare(after)) ? undefined : 'a refused call changed something';
};

const edgesAreTold: Check = (_, __, ___, after) => {
  for (const task of plannedOf(after)) {
    const wrong = task.dependsOn.find((edge) => edge.told !== edgeState(after, edge));
    if (wrong !== undefined) return `task ${task.number} was told that ${wrong.on} is ${wrong.told}`;
  }
  return undefined;
};

const countsAddUp: Check = (_, __, ___, after) => {
  const counts = countsOf(after);
  const { total, pending, in_progress, in_review, blocked, completed, failed, cancelled } = counts;
  const statuses = pending + in_progress + in_review + blocked + completed + failed + cancelled;
  const readiness = counts.ready + counts.waiting + counts.scheduled + counts.unreachable + counts.held;
  return total === statuses && pending === readiness ? undefined : JSON.stringify(counts);
};

const endedMeansStill: Check = (_, __, ___, after) => {
  if (!hasEnded(after)) return undefined;
  const moving = plannedOf(after).find(
    (task) => !isOver(task) && !['waiting', 'unreachable'].includes(readinessOf(task)),
  );
  return moving === undefined ? undefined : `the job has ended and task ${moving.number} can go on`;
};

const CHECKS = {
  'one holder': oneHolder,
  'versions move with every change': versionsMove,
  'no lost update': noLostUpdate,
  'completed stays completed but by reopen': completedStays,
  'refusals and repeats change nothing': refusalsChangeNothing,
  'unmet counters are the edges': edgesAreTold,
  'counts are the statuses': countsAddUp,
  'an ended job has nothing that can go on': endedMeansStill,
} satisfies Record<string, Check>;

/** Throws the first invariant that a step breaks. */
export function checkStep(before: ModelBoard, call: Call, answer: Answer, after: ModelBoard): void {
  for (const [name, check] of Object.entries(CHECKS)) {
    const found = check(before, call, answer, after);
    if (found !== undefined) throw new Error(`"${name}" is broken by ${JSON.stringify(call)}: ${found}`);
  }
}

const viewOf = (board: ModelBoard) =>
  plannedOf(board).map((task) => [task.number, task.status, readinessOf(task), task.version]);

/** Throws when some task is not terminal and nobody has a move that changes it or what it waits for. */
export function checkWayOn(game: Game, state: State): void {
  for (const task of plannedOf(state.board)) {
    if (isOver(task)) continue;
    const hasWay = game.moves.some((move) => {
      const made = makeMove(state, move);
      return made !== undefined && !isDeepStrictEqual(viewOf(made.next.board), viewOf(state.board));
    });
    if (!hasWay) throw new Error(`task ${task.number} is ${task.status} and nobody can move it`);
  }
}

/** What somebody would do next to bring both tasks to completion. */
function helpfulMove({ board, holders }: State, hasToForget: boolean): string {
  if (board.losses.length + board.cascades.length > 0) {
    return hasToForget ? 'forget the oldest entry' : 'carry the oldest entry out';
  }
  for (const task of plannedOf(board)) {
    if (task.status === 'failed' || task.status === 'cancelled') return `reopen ${task.number}`;
    if (task.status === 'completed') continue;
    if (task.status === 'pending') return `claim ${task.number} by 1`;
    const by = holders.findIndex(({ owner }) => owner === task.owner);
    return `submit ${task.number} by ${by + 1}`;
  }
  return '';
}

const HELPFUL_MOVES_MOST = 20;

/** Throws when a state can't be brought to an end in which both tasks are completed. */
export function checkCanComplete(game: Game, from: State): void {
  const forget = game.moves.find((move) => move.name === 'forget the oldest entry');
  let state = from;
  for (let moves = 0; moves < HELPFUL_MOVES_MOST; moves++) {
    const name = helpfulMove(state, forget?.call(state) !== undefined);
    const move = game.moves.find((other) => other.name === name);
    if (move === undefined) break;
    state = makeMove(state, move)?.next ?? state;
  }
  const { board } = state;
  if (board.status === 'succeeded' && plannedOf(board).every((task) => task.status === 'completed')) return;
  throw new Error(`stuck at ${JSON.stringify(viewOf(board))}, job ${board.status}`);
}
