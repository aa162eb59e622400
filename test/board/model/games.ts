import type { Call, NewModelTask } from './calls.ts';
import { taskOf } from './derive.ts';
import type { ModelBoard, OutboxItem, Settings } from './state.ts';

export interface Holder {
  owner: string;
  /** The last claim of each task, and the version that it showed. */
  held: Record<number, { claim: number; version: number } | undefined>;
  /** The last call, to be sent again. */
  last?: Call;
}

export interface State {
  board: ModelBoard;
  holders: Holder[];
  /** Requests so far: each is new, but a repeat's. */
  requests: number;
}

export interface Move {
  name: string;
  /** The holder who makes it; without one a person or the harness does. */
  holder?: number;
  call(state: State): Call | undefined;
}

/** The two holders, the two tasks and everything that anybody may do next: what is explored exhaustively. */
export interface Game {
  name: string;
  owners: readonly string[];
  tasks: readonly NewModelTask[];
  settings: Settings;
  moves: readonly Move[];
}

export const TASKS = [1, 2];

const request = (state: State) => `r${state.requests}`;
const versionOf = (state: State, task: number) => taskOf(state.board, task)?.version ?? 0;

type ToClaim = (h: number, task: number) => Move;

const claimMove: ToClaim = (h, task) => ({
  name: `claim ${task} by ${h + 1}`,
  holder: h,
  call: (state) => ({
    do: 'claim',
    task,
    request: request(state),
    lease: 'short',
    owner: state.holders[h]?.owner ?? '',
  }),
});

/** Entries stay in the outbox, as after a crash, so every delivery comes again for ever. */
const deliveryMove =
  (which: 'newest' | 'oldest'): ToClaim =>
  (h, task) => ({
    name: which === 'newest' ? `claim ${task} by ${h + 1}` : `claim ${task} by ${h + 1}, by an old delivery`,
    holder: h,
    call: (state) => {
      const deliveries = state.board.outbox.filter((item) => item.kind === 'enqueue' && item.task === task);
      if (deliveries.length < (which === 'newest' ? 1 : 2)) return undefined;
      const item = deliveries.at(which === 'newest' ? -1 : 0);
      return {
        do: 'claim',
        task,
        request: request(state),
        lease: 'short',
        owner: state.holders[h]?.owner ?? '',
        expected: item?.attempt ?? 0,
      };
    },
  });

/** The calls of holder `h` about a task that it has claimed. */
function holderMoves(h: number, task: number): Move[] {
  const name = (what: string) => `${what} ${task} by ${h + 1}`;
  const held = (state: State) => state.holders[h]?.held[task];
  const by = (what: string, make: (state: State, claim: number, seen: number) => Call): Move => ({
    name: name(what),
    holder: h,
    call: (state) => {
      const proof = held(state);
      return proof === undefined ? undefined : make(state, proof.claim, proof.version);
    },
  });
  const submit = (state: State, claim: number, version: number): Call => ({
    do: 'submit',
    task,
    claim,
    version,
    request: request(state),
    to: 'complete',
  });
  return [
    by('submit', (state, claim) => submit(state, claim, versionOf(state, task))),
    by('submit what it saw of', (state, claim, seen) => submit(state, claim, seen)),
    by('fail', (state, claim) => ({
      do: 'fail',
      task,
      claim,
      request: request(state),
      class: 'model',
      retryable: true,
      delay: 'none',
    })),
    by('release', (state, claim) => ({ do: 'release', task, claim, request: request(state) })),
    by('heartbeat', (_, claim) => ({ do: 'heartbeat', task, claim, lease: 'long' })),
  ];
}

const change = (parts: Partial<Extract<Call, { do: 'change' }>>): Call => ({
  do: 'change',
  adds: [],
  edits: [],
  cancels: [],
  reopens: [],
  ...parts,
});

function personMoves(task: number): Move[] {
  return [
    {
      name: `edit ${task}`,
      call: (state) =>
        change({
          edits: [{ task, version: versionOf(state, task), patch: { title: `Edit ${state.requests}` } }],
        }),
    },
    {
      name: `cancel ${task}`,
      call: (state) => change({ cancels: [{ task, version: versionOf(state, task), cascade: false }] }),
    },
    {
      name: `reopen ${task}`,
      call: (state) => change({ reopens: [{ task, version: versionOf(state, task) }] }),
    },
  ];
}

/** The oldest entry that concerns only the board. */
const inner = (board: ModelBoard): OutboxItem | undefined =>
  board.outbox.find((item) => item.kind !== 'enqueue' && item.kind !== 'checks');

/** True while an entry still stands for something to be done. */
const isDue = (board: ModelBoard, item: OutboxItem): boolean =>
  (item.kind === 'lost' ? board.losses : board.cascades.map((cascade) => cascade.task)).includes(item.task);

const CARRY_OUT: Move = {
  name: 'carry the oldest entry out',
  call: ({ board }) => {
    const item = inner(board);
    if (item === undefined || item.kind === 'enqueue' || item.kind === 'checks') return undefined;
    return { do: 'carryOut', kind: item.kind, task: item.task };
  },
};

const FORGET: Move = {
  name: 'forget the oldest entry',
  call: ({ board }) => {
    const item = inner(board);
    // Only what was carried out is removed.
    return item === undefined || isDue(board, item) ? undefined : { do: 'forget', item };
  },
};

/** Everything that anybody may do next, with these ways to claim. */
function movesWith(...claims: ToClaim[]): Move[] {
  const both = [0, 1];
  return [
    ...both.flatMap((h) => TASKS.flatMap((task) => claims.map((claim) => claim(h, task)))),
    ...both.flatMap((h) => TASKS.flatMap((task) => holderMoves(h, task))),
    ...both.map((h) => ({
      name: `repeat by ${h + 1}`,
      holder: h,
      call: (state: State) => state.holders[h]?.last,
    })),
    ...TASKS.flatMap(personMoves),
    {
      name: 'cancel 1 with its dependents',
      call: (state) => change({ cancels: [{ task: 1, version: versionOf(state, 1), cascade: true }] }),
    },
    { name: 'sweep', call: () => ({ do: 'sweep' }) },
    CARRY_OUT,
    FORGET,
  ];
}

const SETTINGS: Settings = {
  lead: false,
  maxParallel: 8,
  allowParallel: true,
  maxTasks: 2,
  maxAttempts: 2,
  maxLeadRuns: 1,
  coalesce: false,
};

/** The tasks, the second behind the first. */
function twoTasks(executor: 'agent' | 'external', onLost: 'hold' | 'cancel'): NewModelTask[] {
  const task = { title: 'Task', priority: 2, executor };
  return [
    { ...task, key: 'one', onLost: 'hold', dependsOn: [] },
    { ...task, key: 'two', onLost, dependsOn: [{ on: { key: 'one' }, condition: 'completed' }] },
  ];
}

/** Two holders from outside, who claim what they like. */
export const outsiders = (onLost: 'hold' | 'cancel'): Game => ({
  name: `holders from outside, lost dependents: ${onLost}`,
  owners: ['external:x1', 'external:x2'],
  tasks: twoTasks('external', onLost),
  settings: SETTINGS,
  moves: movesWith(claimMove),
});

/** Two workers, who take what the queue delivers: the newest delivery of a task, or its oldest once more. */
export const workers = (onLost: 'hold' | 'cancel'): Game => ({
  name: `workers with deliveries, lost dependents: ${onLost}`,
  owners: ['sub-agent:s1', 'sub-agent:s2'],
  tasks: twoTasks('agent', onLost),
  settings: SETTINGS,
  moves: movesWith(deliveryMove('newest'), deliveryMove('oldest')),
});
