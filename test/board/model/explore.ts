import type { Answer, Call } from './calls.ts';
import { readinessOf, taskOf } from './derive.ts';
import { type Game, type Move, type State, TASKS } from './games.ts';
import { step, submitted } from './model.ts';
import type { ModelBoard, ModelTask } from './state.ts';

/**
 * All interleavings of two holders and a person over two tasks, the second of which depends on the first, explored on
 * the model. States that differ only in how often something happened count as one.
 */

export function firstState({ owners, settings, tasks }: Game): State {
  const holders = owners.map((owner) => ({ owner, held: {} }));
  return { board: submitted(settings, tasks), holders, requests: 0 };
}

/** Makes a move; undefined when it is none now. */
export function makeMove(state: State, move: Move): { call: Call; answer: Answer; next: State } | undefined {
  const call = move.call(state);
  if (call === undefined) return undefined;
  const { board, answer } = step(state.board, call);
  const holders = state.holders.map((holder, h) => {
    if (h !== move.holder) return holder;
    const got = call.do === 'claim' && answer.word === 'ok' ? taskOf(board, call.task ?? 0) : undefined;
    const claim = got?.claim;
    if (got === undefined || claim === undefined) return { ...holder, last: call };
    return { ...holder, last: call, held: { ...holder.held, [got.number]: { claim, version: got.version } } };
  });
  return { call, answer, next: { board, holders, requests: state.requests + 1 } };
}

/** What two states must share to have the same future: numbers that only grow count by what they are compared with. */
export function canonical({ board, holders }: State): string {
  const tasks = board.tasks.map((task) => {
    const lease = task.leaseEnd === undefined ? '' : task.leaseEnd > board.now + 1000 ? 'long' : 'short';
    const { status, strikes, failures, hold, owner, fresh, growth, queued } = task;
    return [status, readinessOf(task), strikes, failures, hold, owner, fresh, growth, queued, lease].join();
  });
  const proofs = holders.map(({ held, last }) => [
    ...TASKS.map((number) => {
      const proof = held[number];
      const task = taskOf(board, number);
      return proof === undefined ? '' : `${proof.claim === task?.claim} ${proof.version === task?.version}`;
    }),
    last === undefined ? '' : canonicalCall(board, last),
  ]);
  const outbox = board.outbox
    .filter(({ kind }) => kind !== 'enqueue' && kind !== 'checks')
    .map(({ kind, task }) => `${kind}${task}`);
  const deliveries = TASKS.map((number) => canonicalDeliveries(board, number));
  return JSON.stringify([
    board.status,
    tasks,
    proofs,
    outbox,
    deliveries,
    board.losses,
    board.cascades,
    board.reruns,
  ]);
}

/** The deliveries that can be made: whether the newest and the oldest are for the attempt that is next. */
function canonicalDeliveries(board: ModelBoard, number: number): string {
  const attempts = taskOf(board, number)?.attempts.length;
  const deliveries = board.outbox.filter(({ kind, task }) => kind === 'enqueue' && task === number);
  const ends = [deliveries.at(-1), deliveries.length > 1 ? deliveries[0] : undefined];
  return ends.map((item) => (item === undefined ? '' : item.attempt === attempts)).join();
}

function canonicalCall(board: ModelBoard, call: Call): string {
  const task: ModelTask | undefined =
    'task' in call && call.task !== undefined ? taskOf(board, call.task) : undefined;
  const parts: unknown[] = [call.do, task?.number];
  if ('claim' in call) parts.push(call.claim === task?.claim);
  if ('version' in call) parts.push(call.version === task?.version);
  if ('expected' in call) parts.push(call.expected === task?.attempts.length);
  if ('request' in call)
    parts.push(
      call.do === 'claim'
        ? call.request === task?.claimRequest
        : task?.requests.find(({ request }) => request === call.request)?.action,
    );
  return parts.join();
}

export interface Visit {
  state: State;
  from?: { visit: Visit; move: Move };
}

export interface Explored {
  /** Distinct states by the number of moves after which each was first met. */
  layers: Visit[][];
  transitions: number;
  /** Sequences of at most `depth` moves that the states stand for. */
  sequences: number;
}

/**
 * Explores all sequences of at most `depth` moves. `onTransition` sees each transition from each distinct state, and
 * throws if it breaks an invariant.
 */
export function explore(
  game: Game,
  depth: number,
  onTransition: (before: State, call: Call, answer: Answer, after: State) => void,
): Explored {
  const root: Visit = { state: firstState(game) };
  const known = new Map([[canonical(root.state), root]]);
  const layers: Visit[][] = [[root]];
  // Of each state, how many sequences of exactly the current length end there.
  let ending = new Map<Visit, number>([[root, 1]]);
  const nextOf = new Map<Visit, Visit[]>();
  let transitions = 0;
  let sequences = 1;
  const expand = (visit: Visit, layer: Visit[]): Visit[] =>
    game.moves.flatMap((move) => {
      const made = makeMove(visit.state, move);
      if (made === undefined) return [];
      transitions += 1;
      onTransition(visit.state, made.call, made.answer, made.next);
      const key = canonical(made.next);
      const reached = known.get(key) ?? { state: made.next, from: { visit, move } };
      if (!known.has(key)) layer.push(reached);
      known.set(key, reached);
      return [reached];
    });
  for (let length = 1; length <= depth; length++) {
    const layer: Visit[] = [];
    const longer = new Map<Visit, number>();
    for (const [visit, count] of ending) {
      const next = nextOf.get(visit) ?? expand(visit, layer);
      nextOf.set(visit, next);
      for (const reached of next) longer.set(reached, (longer.get(reached) ?? 0) + count);
    }
    for (const count of longer.values()) sequences += count;
    ending = longer;
    layers.push(layer);
  }
  return { layers, transitions, sequences };
}

/** The moves that first led to a state. */
export function pathTo(visit: Visit): Move[] {
  const moves: Move[] = [];
  for (let at = visit; at.from !== undefined; at = at.from.visit) moves.unshift(at.from.move);
  return moves;
}
