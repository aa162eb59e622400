import type { Boards, Hold } from '@crewboard/board';
import { CrewboardError, type NewTask, newSecret, type Task } from '@crewboard/contracts';
import { ANN, type BoardFixture } from '../support/board.ts';

/** A repeatable stream of random numbers in [0, 1). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Carries out everything that a board still has to hand on within itself, and drops what goes to queues. */
export async function drainOutbox(boards: Boards, jobId: string): Promise<void> {
  for (let round = 0; round < 1000; round++) {
    const entries = await boards.readOutbox(jobId, 500);
    if (entries.length === 0) return;
    for (const entry of entries) await boards.carryOut(jobId, entry);
    await boards.removeFromOutbox(
      jobId,
      entries.map(({ id }) => id),
    );
  }
  throw new Error('the outbox never gets empty');
}

const RESULT = { summary: 'done', output: { n: 1 }, artifacts: [], evidence: [] };
const FAILURE = { class: 'model', reason: 'no idea', infraStrikes: 3 } as const;

interface Player {
  boards: Boards;
  jobId: string;
  random: () => number;
  pick<T>(list: readonly T[]): T | undefined;
  holds: Map<string, Hold>;
  tasks(): Promise<Task[]>;
}

type Move = (player: Player) => Promise<unknown>;

async function oneOf(player: Player, fits: (task: Task) => boolean): Promise<Task | undefined> {
  return player.pick((await player.tasks()).filter(fits));
}

async function newTask({ random, pick, tasks }: Player): Promise<NewTask> {
  const known = await tasks();
  const dependsOn = Array.from({ length: Math.floor(random() * 3) }, () => pick(known))
    .filter((task) => task !== undefined)
    .map(({ id }) => ({
      task: id,
      condition: random() < 0.7 ? ('completed' as const) : ('settled' as const),
    }));
  return {
    title: `Task ${Math.floor(random() * 1e6)}`,
    dependsOn,
    priority: Math.floor(random() * 5),
    executor: random() < 0.2 ? 'external' : 'agent',
    onDependencyLost: random() < 0.2 ? 'cancel' : 'hold',
    ...(random() < 0.3 ? { key: `key ${Math.floor(random() * 1e6)}` } : {}),
  };
}

const addTasks: Move = async (player) => {
  const tasks = [await newTask(player), await newTask(player)];
  return player.boards.add(player.jobId, { tasks, by: ANN, maxAttempts: 3 });
};

const editTask: Move = async (player) => {
  const task = await oneOf(player, ({ status }) => status === 'pending' || status === 'blocked');
  const { dependsOn, priority } = await newTask(player);
  if (task === undefined) return;
  const patch = player.random() < 0.5 ? { dependsOn: dependsOn ?? [] } : { priority: priority ?? 0 };
  const edits = [{ taskId: task.id, version: task.version, patch }];
  await player.boards.change(player.jobId, { by: ANN, maxAttempts: 3, edits });
};

const claim: Move = async (player) => {
  const task = await oneOf(player, ({ readiness }) => readiness?.state === 'ready');
  if (task === undefined) return;
  const kind = task.executor === 'external' ? 'external' : 'sub-agent';
  const claimed = await player.boards.claim(player.jobId, {
    taskId: task.id,
    owner: { kind, id: `w${Math.floor(player.random() * 3)}` },
    secret: newSecret(),
    requestId: newSecret(),
    leaseMs: player.random() < 0.1 ? 1 : 30_000,
  });
  if (claimed !== undefined)
    player.holds.set(task.id, { jobId: player.jobId, taskId: task.id, token: claimed.token });
};

/** Something that the holder of a task in progress does. */
function asHolder(act: (player: Player, hold: Hold, task: Task) => Promise<unknown>): Move {
  return async (player) => {
    const task = await oneOf(player, ({ status }) => status === 'in_progress');
    const hold = task === undefined ? undefined : player.holds.get(task.id);
    if (task !== undefined && hold !== undefined) await act(player, hold, task);
  };
}

const decide: Move = async (player) => {
  const task = await oneOf(
    player,
    ({ status, readiness }) =>
      ['blocked', 'in_review'].includes(status) ||
      (readiness?.state === 'held' && readiness.cause === 'proposal'),
  );
  if (task === undefined) return;
  const yes = task.status === 'blocked' ? 'unblock' : 'approve';
  const decision = task.status !== 'blocked' && player.random() < 0.4 ? 'reject' : yes;
  await player.boards.resolve(player.jobId, {
    taskId: task.id,
    version: task.version,
    decision,
    text: 'so be it',
    by: ANN,
  });
};

const check: Move = async (player) => {
  const task = await oneOf(player, ({ status }) => status === 'in_review');
  if (task === undefined) return;
  const taken = await player.boards.startChecks(player.jobId, task.id, 'harness:checks', 30_000);
  if (taken === undefined || player.random() < 0.2) return;
  if (player.random() < 0.2) {
    const hold = { jobId: player.jobId, taskId: task.id, token: taken.token };
    return player.boards.releaseChecks(hold, player.random() < 0.5 ? 0 : 1, 'no sandbox');
  }
  const passed = player.random() < 0.6;
  const reason = 'exit code 1';
  const told = passed ? { passed, checks: ['c'] } : { passed, check: 'c', reason };
  const verdict = { passed, reason, evidence: [], delayMs: 0, told };
  await player.boards.endChecks(player.jobId, task.id, taken, verdict);
};

/** A run of the lead, if it is queued: it looks at the news, plans something and waits for more. */
const leadRun: Move = async (player) => {
  const { boards, jobId } = player;
  const { lead } = await boards.job(jobId);
  if (lead === undefined) return;
  const owner = { kind: 'lead', id: 'lead-1' } as const;
  const ids = { secret: newSecret(), requestId: newSecret() };
  const claimed = await boards.claim(jobId, { taskId: lead, owner, ...ids, leaseMs: 30_000 });
  if (claimed === undefined) return;
  const hold = { jobId, taskId: lead, token: claimed.token };
  const { asOf } = await boards.job(jobId);
  const journal = await boards.openJournal(hold, { attempt: claimed.task.attempt, cursorFor: () => asOf });
  await journal.append({ kind: 'message', texts: ['the news'] });
  const by = { token: claimed.token, requestId: newSecret() };
  const added = await boards
    .add(jobId, { tasks: [await newTask(player)], by: owner, maxAttempts: 3, lead: by })
    .catch(() => []);
  const waits = added.length === 0 ? 'still' : await boards.waitForNews(hold, newSecret());
  if (waits === 'still') await boards.release(hold, newSecret(), 'nothing to wait for');
};

const cancelOrReopen: Move = async (player) => {
  const task = await oneOf(player, () => true);
  if (task === undefined) return;
  const { id: taskId, version } = task;
  const isOver = ['completed', 'failed', 'cancelled'].includes(task.status);
  const dependents = player.random() < 0.3 ? ('cancel' as const) : undefined;
  await player.boards.change(player.jobId, {
    by: ANN,
    maxAttempts: 3,
    ...(isOver
      ? { reopens: [{ taskId, version, reason: 'again' }] }
      : { cancels: [{ taskId, version, reason: 'no need', dependents }] }),
  });
};

const pauseOrResume: Move = async ({ boards, jobId, random }) =>
  random() < 0.2 ? boards.pauseJob(jobId, ANN, 'user', 'wait') : boards.resumeJob(jobId, ANN);

const handOn: Move = async ({ boards, jobId, random }) => {
  if (random() < 0.5) return drainOutbox(boards, jobId);
  return boards.sweep(jobId, { intervalMs: 0, leaseMs: 30_000, strikes: 3, staleMs: 1000 });
};

const submit = (then: 'complete' | 'checks' | 'review') =>
  asHolder(({ boards }, hold, task) => boards.submit(hold, newSecret(), task.version, RESULT, then));
const fail = (delayMs: number) =>
  asHolder(({ boards, random }, hold) =>
    boards.fail(hold, newSecret(), { ...FAILURE, retryable: random() < 0.7, delayMs }),
  );

const MOVES: readonly Move[] = [
  addTasks,
  addTasks,
  editTask,
  claim,
  claim,
  claim,
  claim,
  submit('complete'),
  submit('complete'),
  submit('checks'),
  submit('review'),
  fail(0),
  fail(60_000),
  asHolder(({ boards }, hold) => boards.release(hold, newSecret(), 'not now')),
  asHolder(({ boards }, hold) =>
    boards.park(hold, newSecret(), { delayMs: 2, reason: 'busy', strikesToFail: 0 }),
  ),
  asHolder(({ boards }, hold) => boards.note(hold, newSecret(), 'half-way', { progress: '1 of 2' })),
  asHolder(({ boards }, hold) => boards.block(hold, newSecret(), { kind: 'needs_input', reason: 'which?' })),
  asHolder(async (player, hold) => {
    const other = await oneOf(player, ({ id }) => id !== hold.taskId);
    const block = { kind: 'dependency', reason: 'that first', on: other?.id } as const;
    await player.boards.block(hold, newSecret(), block);
  }),
  asHolder(async (player, hold) =>
    player.boards.propose(hold, newSecret(), await newTask(player), { kind: 'sub-agent', id: 'w' }, 3),
  ),
  asHolder(async ({ boards }, hold, { attempt }) => {
    const journal = await boards.openJournal(hold, { attempt });
    await journal.append({ kind: 'message', texts: ['go on'] });
  }),
  decide,
  decide,
  check,
  leadRun,
  cancelOrReopen,
  pauseOrResume,
  handOn,
  handOn,
];

/**
 * Does `steps` random things to a board, as its users might, also things that are refused. Only a refusal is let pass.
 */
export async function playHistory(
  board: BoardFixture,
  jobId: string,
  seed: number,
  steps: number,
): Promise<void> {
  const random = randomFrom(seed);
  const player: Player = {
    boards: board.boards,
    jobId,
    random,
    pick: (list) => list[Math.floor(random() * list.length)],
    holds: new Map(),
    tasks: async () => (await board.boards.page(jobId, { after: 0, limit: 100 })).tasks,
  };
  for (let step = 0; step < steps; step++) {
    const move = player.pick(MOVES) ?? addTasks;
    await move(player).catch((error: unknown) => {
      if (!(error instanceof CrewboardError) || error.code === 'unavailable') throw error;
    });
  }
}
