import { CrewboardError, newSecret } from '@crewboard/contracts';
import { expect, it } from 'vitest';
import { ANN, type BoardFixture, openBoardFixture } from '../support/board.ts';

/** A task in one state: whom it belongs to, and the token of its attempt, which may be over. */
interface Place {
  jobId: string;
  taskId: string;
  token: string;
}

const BY = 'user:ann';
const NO_TOKEN = '1-nobody';

async function one(board: BoardFixture, task: object = {}, options: object = {}): Promise<Place> {
  const { jobId, ids } = await board.job([{ key: 'a', title: 'A', executor: 'external', ...task }], options);
  return { jobId, taskId: ids.a ?? '', token: NO_TOKEN };
}

async function held(board: BoardFixture, task: object = {}): Promise<Place> {
  const place = await one(board, task);
  const claimed = await board.boards.claim(place.jobId, {
    taskId: place.taskId,
    owner: { kind: 'external', id: 'bob' },
    secret: newSecret(),
    requestId: newSecret(),
    leaseMs: 60_000,
  });
  return { ...place, token: claimed?.token ?? '' };
}

async function second(board: BoardFixture, first: 'completed' | 'failed' | 'pending'): Promise<Place> {
  const { jobId, ids } = await board.job([
    { key: 'first', title: 'First', executor: 'external' },
    { key: 'a', title: 'A', executor: 'external', dependsOn: ['first'] },
    { key: 'other', title: 'Other', executor: 'external' },
  ]);
  const before = { jobId, taskId: ids.first ?? '' };
  if (first === 'failed') {
    await board.boards.change(jobId, {
      by: ANN,
      cancels: [{ taskId: before.taskId, version: 1, reason: 'no' }],
    });
  }
  return { jobId, taskId: ids.a ?? '', token: NO_TOKEN };
}

async function proposed(board: BoardFixture): Promise<Place> {
  const { jobId, taskId, token } = await held(board);
  const by = { kind: 'external', id: 'bob' } as const;
  const made = await board.boards.propose({ jobId, taskId, token }, 'p', { title: 'B' }, by);
  return { jobId, taskId: made.taskId, token: NO_TOKEN };
}

const submit = ({ boards }: BoardFixture, hold: Place, next: 'complete' | 'review' | 'checks') =>
  boards.submit(hold, '', 2, { summary: 'done', evidence: [] }, next);

const STATES: Record<string, (board: BoardFixture) => Promise<Place>> = {
  ready: one,
  waiting: (board) => second(board, 'pending'),
  unreachable: (board) => second(board, 'failed'),
  async scheduled(board) {
    const hold = await held(board);
    const failure = {
      class: 'model',
      reason: 'no',
      retryable: true,
      delayMs: 60_000,
      infraStrikes: 3,
    } as const;
    await board.boards.fail(hold, '', failure);
    return hold;
  },
  async paused(board) {
    const place = await one(board);
    await board.boards.pauseJob(place.jobId, ANN, 'user', 'wait');
    return place;
  },
  async 'ready behind the one that may be in progress'(board) {
    const tasks = ['first', 'a'].map((key) => ({ key, title: key, executor: 'external' as const }));
    const { jobId, ids } = await board.job(tasks, { allowParallelInProgress: false });
    const claimed = await board.boards.claim(jobId, {
      taskId: ids.first ?? '',
      owner: { kind: 'external', id: 'bob' },
      secret: newSecret(),
      requestId: newSecret(),
      leaseMs: 60_000,
    });
    expect(claimed).toBeDefined();
    return { jobId, taskId: ids.a ?? '', token: NO_TOKEN };
  },
  'a proposal': proposed,
  async 'a rejected proposal'(board) {
    const place = await proposed(board);
    await board.boards.resolve(place.jobId, { ...place, version: 1, decision: 'reject', text: '', by: ANN });
    return place;
  },
  'in progress': held,
  async blocked(board) {
    const hold = await held(board);
    await board.boards.block(hold, '', { kind: 'needs_input', reason: 'what?' });
    return hold;
  },
  async 'in review by people'(board) {
    const hold = await held(board, { policy: 'approved' });
    await submit(board, hold, 'review');
    return hold;
  },
  async 'in review by checks'(board) {
    const hold = await held(board);
    await submit(board, hold, 'checks');
    return hold;
  },
  async 'completed, its job with it'(board) {
    const hold = await held(board);
    await submit(board, hold, 'complete');
    return hold;
  },
  async failed(board) {
    const hold = await held(board);
    const failure = { class: 'model', reason: 'no', retryable: false, delayMs: 0, infraStrikes: 3 } as const;
    await board.boards.fail(hold, '', failure);
    return hold;
  },
  async cancelled(board) {
    const place = await one(board);
    const cancels = [{ taskId: place.taskId, version: 1, reason: 'no' }];
    await board.boards.change(place.jobId, { by: ANN, cancels });
    return place;
  },
  async 'in a job that is being cancelled'(board) {
    const place = await one(board);
    await board.boards.cancelJob(place.jobId, BY, 'enough');
    return place;
  },
  async 'the lead'(board) {
    const { jobId } = await board.job([{ key: 'a', title: 'A', executor: 'external' }], { lead: true });
    return { jobId, taskId: (await board.boards.job(jobId)).lead ?? '', token: NO_TOKEN };
  },
};

type Act = (board: BoardFixture, place: Place, version: number) => Promise<unknown>;

const decide =
  (decision: 'unblock' | 'approve' | 'reject'): Act =>
  ({ boards }, { jobId, taskId }, version) =>
    boards.resolve(jobId, { taskId, version, decision, text: '', by: ANN });

const PERSONS: Record<string, Act> = {
  edit: ({ boards }, { jobId, taskId }, version) =>
    boards.change(jobId, { by: ANN, edits: [{ taskId, version, patch: { priority: 1 } }] }),
  set_dependencies: ({ boards }, { jobId, taskId }, version) =>
    boards.change(jobId, { by: ANN, edits: [{ taskId, version, patch: { dependsOn: [] } }] }),
  cancel: ({ boards }, { jobId, taskId }, version) =>
    boards.change(jobId, { by: ANN, cancels: [{ taskId, version, reason: 'no' }] }),
  unblock: decide('unblock'),
  approve: decide('approve'),
  reject: decide('reject'),
  reopen: ({ boards }, { jobId, taskId }, version) =>
    boards.change(jobId, { by: ANN, reopens: [{ taskId, version, reason: 'again' }] }),
};

const HOLDERS: Record<string, Act> = {
  heartbeat: ({ boards }, hold) => boards.heartbeat(hold, 1000),
  note: ({ boards }, hold) => boards.note(hold, '', 'a note', {}),
  submit: ({ boards }, hold, version) =>
    boards.submit(hold, '', version, { summary: 'done', evidence: [] }, 'complete'),
  block: ({ boards }, hold) => boards.block(hold, '', { kind: 'needs_input', reason: 'what?' }),
  fail: ({ boards }, hold) =>
    boards.fail(hold, '', { class: 'model', reason: 'no', retryable: false, delayMs: 0, infraStrikes: 3 }),
  release: ({ boards }, hold) => boards.release(hold, '', ''),
};

const CLAIMS: Record<string, Act> = {
  claim: ({ boards }, { jobId, taskId }) =>
    boards.claim(jobId, {
      taskId,
      owner: { kind: 'external', id: 'eve' },
      secret: newSecret(),
      requestId: newSecret(),
      leaseMs: 60_000,
    }),
};

/** The refusal's code, or undefined where the call went through. */
async function refusalOf(call: Promise<unknown>): Promise<CrewboardError | undefined> {
  try {
    await call;
    return undefined;
  } catch (error) {
    if (error instanceof CrewboardError) return error;
    throw error;
  }
}

it.each(
  Object.keys(STATES).flatMap((state) =>
    (
      [
        ['person', PERSONS],
        ['holder', HOLDERS],
        ['claimant', CLAIMS],
      ] as const
    ).map(([asker, acts]) => ({ state, asker, acts })),
  ),
)(
  'a task that is $state: `allowed` for a $asker names exactly what succeeds',
  async ({ state, asker, acts }) => {
    await using board = await openBoardFixture();
    const succeeded: string[] = [];
    let allowed: readonly string[] = [];
    for (const [action, act] of Object.entries(acts)) {
      const place = await STATES[state]?.(board);
      if (place === undefined) throw new Error(`no such state ${state}`);
      const { version } = await board.boards.task(place.jobId, place.taskId);
      const asked = await board.boards.aboutTask(
        new CrewboardError('invalid_argument', 'asked'),
        place.jobId,
        place.taskId,
        asker,
      );
      if (!(asked instanceof CrewboardError)) throw asked;
      allowed = asked.extras.allowed ?? [];
      const refusal = await refusalOf(act(board, place, version));
      if (refusal === undefined) succeeded.push(action);
      else if (asker === 'person' && refusal.extras.current !== undefined)
        expect(refusal.extras.allowed).toEqual(allowed);
    }
    // Retry is reopen under another name; reading the lead is no transition.
    const told = allowed.filter((action) => !['retry', 'read'].includes(action));
    const isLead = state === 'the lead';
    expect(told.toSorted()).toEqual(isLead ? [] : succeeded.toSorted());
    if (asker === 'person' && !isLead) expect(allowed.includes('retry')).toBe(succeeded.includes('reopen'));
  },
);

it('names the lead as a task whose claim is refused', async () => {
  await using board = await openBoardFixture();
  const place = await STATES['the lead']?.(board);
  if (place === undefined) throw new Error('no such state');
  expect((await refusalOf(CLAIMS.claim?.(board, place, 1) ?? Promise.resolve()))?.message).toContain(
    `task ${place.taskId} (the lead) can't be claimed by this kind of holder.`,
  );
});
