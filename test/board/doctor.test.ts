import { describe, expect, inject, it } from 'vitest';
import { ANN, type BoardFixture, openBoardFixture } from '../support/board.ts';
import { drainOutbox, playHistory } from './random-history.ts';

const isEmbedded = inject('redisKind') === 'embedded';

/** Sets one position (from 1) of a packed record. */
const SET_FIELD = `local record = cmsgpack.unpack(redis.call('HGET', KEYS[1], ARGV[1]))
record[tonumber(ARGV[2])] = tonumber(ARGV[3]) or ARGV[3]
redis.call('HSET', KEYS[1], ARGV[1], cmsgpack.pack(record))`;
/** Positions of lua/lib/core.lua. */
const AT = { format: 1, maxParallel: 6, slices: 18, counts: 30, token: 8, version: 1 };
const NOBODY = 't_zzzzzzzz';
const RESULT = { summary: 'done', artifacts: [], evidence: [] };

interface Patient {
  board: BoardFixture;
  jobId: string;
  /** Task IDs by key: `done`, `queued`, `running`, `outside`, `next` (after `queued`), `late` (scheduled). */
  ids: Record<'done' | 'queued' | 'running' | 'outside' | 'next' | 'late', string>;
  key(name: Parameters<BoardFixture['boards']['keys']['board']>[1]): string;
  set(record: string, position: number, value: number | string): Promise<unknown>;
}

/** A board with a task in each of the states that the checks tell apart, and an empty outbox. */
async function aPatient(board: BoardFixture): Promise<Patient> {
  const { jobId, ids } = await board.job([
    { key: 'done', title: 'Done' },
    { key: 'queued', title: 'Queued', dependsOn: ['done'] },
    { key: 'running', title: 'Running' },
    { key: 'outside', title: 'Outside', executor: 'external' },
    { key: 'next', title: 'Next', dependsOn: ['queued'] },
    { key: 'late', title: 'Late' },
  ]);
  const { boards, store } = board;
  const { done = '', queued = '', running = '', outside = '', next = '', late = '' } = ids;
  await boards.index.addLive(jobId);
  const first = await board.claim(jobId, done);
  await boards.submit(first.hold, 'r1', first.task.version, RESULT);
  await board.claim(jobId, running);
  const tried = await board.claim(jobId, late);
  const failure = {
    class: 'model',
    reason: 'no idea',
    retryable: true,
    delayMs: 60_000,
    infraStrikes: 3,
  } as const;
  await boards.fail(tried.hold, 'r1', failure);
  await drainOutbox(boards, jobId);
  const key = (name: Parameters<Patient['key']>[0]) => boards.keys.board(jobId, name);
  return {
    board,
    jobId,
    ids: { done, queued, running, outside, next, late },
    key,
    set: (record, position, value) => store.redis.eval(SET_FIELD, 1, key('hot'), record, position, value),
  };
}

type TaskName = keyof Patient['ids'];

interface Damage {
  what: string;
  damage(patient: Patient): Promise<unknown>;
  /** Each finding as its check and the task's key; without a task the check alone. */
  finds: string[];
  /** Findings that stay after a repair. */
  stays?: string[];
}

const redisOf = ({ board }: Patient) => board.store.redis;
const orphan = (hash: Parameters<Patient['key']>[0], field = NOBODY, value = 'x'): Damage => ({
  what: `a field of ${hash} without a task`,
  damage: (patient) => redisOf(patient).hset(patient.key(hash), field, value),
  finds: [`${hash} ${NOBODY}`],
  stays: [`${hash} ${NOBODY}`],
});

const DAMAGES: Damage[] = [
  {
    what: 'a count that is off',
    damage: ({ set }) => set('@', AT.counts + 13, 7),
    finds: ['counts'],
  },
  {
    what: 'an index score of another code',
    damage: (patient) => redisOf(patient).zadd(patient.key('index'), '5', patient.ids.done),
    finds: ['counts', 'counts', 'index done'],
  },
  {
    what: 'a task that the index lacks',
    damage: (patient) => redisOf(patient).zrem(patient.key('index'), patient.ids.next),
    finds: ['counts', 'index next'],
  },
  {
    what: 'a member of the index without a task',
    damage: (patient) => redisOf(patient).zadd(patient.key('index'), '5', NOBODY),
    finds: ['counts', `index ${NOBODY}`],
  },
  {
    what: 'a place in the order that names no task',
    damage: (patient) => redisOf(patient).setrange(patient.key('order'), 20, 'xxxxxxxxxx'),
    finds: ['order running'],
  },
  {
    what: 'a task in neither order nor index',
    async damage(patient) {
      await redisOf(patient).setrange(patient.key('order'), 20, 'xxxxxxxxxx');
      await redisOf(patient).zrem(patient.key('index'), patient.ids.running);
    },
    finds: ['counts', 'order running', 'order'],
  },
  {
    what: 'a key without a task',
    damage: (patient) => redisOf(patient).hset(patient.key('keys'), 'ghost', `${NOBODY}hash`),
    finds: [`keys ${NOBODY}`],
  },
  {
    what: 'a task whose key nobody knows',
    damage: (patient) => redisOf(patient).hdel(patient.key('keys'), 'done'),
    finds: ['keys done'],
    stays: ['keys done'],
  },
  {
    what: 'an unmet counter that is too high',
    damage: (patient) => redisOf(patient).hset(patient.key('unmet'), patient.ids.next, '5'),
    finds: ['unmet next'],
  },
  {
    what: 'an unmet counter that is too low',
    damage: (patient) => redisOf(patient).hdel(patient.key('unmet'), patient.ids.next),
    finds: ['unmet next'],
  },
  {
    what: 'a readiness that does not follow',
    damage: ({ set, ids }) => set(ids.next, 2, 2),
    finds: ['index next', 'readiness next'],
  },
  {
    what: 'an edge behind the dependency',
    damage: (patient) =>
      redisOf(patient).hset(patient.key('edges'), patient.ids.queued, `${patient.ids.next}cm`),
    finds: ['edges queued'],
  },
  {
    what: 'an edge that its dependency lacks',
    damage: (patient) => redisOf(patient).hdel(patient.key('edges'), patient.ids.queued),
    finds: ['edges next'],
  },
  {
    what: 'an edge that stands twice',
    damage: (patient) =>
      redisOf(patient).hset(patient.key('edges'), patient.ids.queued, `${patient.ids.next}cu`.repeat(2)),
    finds: ['edges next'],
  },
  {
    what: 'an edge to a task that does not depend',
    damage: (patient) =>
      redisOf(patient).hset(patient.key('edges'), patient.ids.done, `${NOBODY}cu${patient.ids.queued}cm`),
    finds: ['edges done'],
  },
  {
    what: 'a dependency that is no task',
    damage: (patient) => redisOf(patient).hset(patient.key('deps'), patient.ids.outside, `${NOBODY}c`),
    finds: ['deps outside', 'events outside'],
    stays: ['deps outside', 'events outside'],
  },
  {
    what: 'a task that is done in the window',
    damage: (patient) => redisOf(patient).zadd(patient.key('window'), '1', patient.ids.done),
    finds: ['window done'],
  },
  {
    what: 'a queued task outside the window',
    damage: (patient) => redisOf(patient).zrem(patient.key('window'), patient.ids.queued),
    finds: ['window queued'],
  },
  {
    what: 'a window that is too full',
    damage: ({ set }) => set('@', AT.maxParallel, 1),
    finds: ['window'],
    stays: ['window'],
  },
  {
    what: 'a lease of a task that is done',
    damage: (patient) => redisOf(patient).zadd(patient.key('lease'), '1', patient.ids.done),
    finds: ['lease done'],
  },
  {
    what: 'a holder without a lease',
    damage: (patient) => redisOf(patient).zrem(patient.key('lease'), patient.ids.running),
    finds: ['lease running'],
  },
  {
    what: 'a due time of a task that waits for none',
    damage: (patient) => redisOf(patient).zadd(patient.key('due'), '1', patient.ids.next),
    finds: ['due next'],
  },
  {
    what: 'a scheduled task that is not due',
    damage: (patient) => redisOf(patient).zrem(patient.key('due'), patient.ids.late),
    finds: ['due late'],
  },
  {
    what: 'a scheduled task with another due time',
    damage: (patient) => redisOf(patient).zadd(patient.key('due'), '17', patient.ids.late),
    finds: ['due late'],
  },
  {
    what: 'checks without a runner that no sweep would find',
    async damage({ board, jobId, ids, key }) {
      const claim = {
        owner: { kind: 'external', id: 'bob' },
        secret: 's',
        requestId: '',
        leaseMs: 60_000,
      } as const;
      const claimed = await board.boards.claim(jobId, { taskId: ids.outside, ...claim });
      const hold = { jobId, taskId: ids.outside, token: claimed?.token ?? '' };
      await board.boards.submit(hold, 'r1', claimed?.task.version ?? 0, RESULT, 'checks');
      await drainOutbox(board.boards, jobId);
      await board.store.redis.zrem(key('due'), ids.outside);
    },
    finds: ['due outside'],
  },
  {
    what: 'a wrong number of slices under way',
    damage: ({ set }) => set('@', AT.slices, 3),
    finds: ['slices'],
  },
  {
    what: 'a slice that nothing goes on with',
    async damage(patient) {
      await redisOf(patient).hset(patient.key('slices'), patient.ids.done, '0');
      await patient.set('@', AT.slices, 1);
    },
    finds: ['slices done'],
  },
  ...['junk', `lost:${NOBODY}`, `cascade:${NOBODY}`, NOBODY].map((field) => ({
    what: `the slice "${field}", which nothing can go on with`,
    async damage(patient: Patient) {
      await redisOf(patient).hset(patient.key('slices'), field, 'junk');
      await patient.set('@', AT.slices, 1);
    },
    finds: ['slices', field === 'junk' ? 'slices' : `slices ${NOBODY}`],
  })),
  {
    what: 'a cascade whose note can not be read',
    async damage(patient: Patient) {
      await redisOf(patient).hset(patient.key('slices'), `cascade:${patient.ids.done}`, '{"start":');
      await patient.set('@', AT.slices, 1);
    },
    finds: ['slices', 'slices done'],
  },
  {
    what: 'an outbox entry that nobody carries out',
    async damage(patient) {
      await redisOf(patient).del(patient.key('outbox'));
      const fields = [
        'v',
        '1',
        'kind',
        'enqueue',
        'task',
        patient.ids.queued,
        'attempt',
        '0',
        'dispatch',
        '1',
      ];
      await redisOf(patient).xadd(patient.key('outbox'), '1000-0', ...fields);
    },
    finds: ['outbox queued'],
    stays: ['outbox queued'],
  },
  {
    what: 'a record that is no record',
    damage: (patient) => redisOf(patient).hset(patient.key('hot'), patient.ids.outside, 'garbage'),
    finds: ['record outside'],
    stays: ['record outside'],
  },
  {
    what: 'a record that is lost',
    damage: (patient) => redisOf(patient).hdel(patient.key('hot'), patient.ids.outside),
    finds: ['head outside', 'index outside', 'keys outside', 'order'],
    stays: ['head outside', 'order'],
  },
  {
    what: 'a task without its texts',
    damage: (patient) => redisOf(patient).hdel(patient.key('head'), patient.ids.outside),
    finds: ['head outside'],
    stays: ['head outside'],
  },
  {
    what: 'an attempt without its record',
    damage: (patient) => redisOf(patient).hdel(patient.key('attempts'), `${patient.ids.running}:1`),
    finds: ['attempts running'],
    stays: ['attempts running'],
  },
  {
    what: 'a claim token of nobody',
    damage: ({ set, ids }) => set(ids.outside, AT.token, '1-secret'),
    finds: ['holder outside'],
    stays: ['holder outside'],
  },
  {
    what: 'a version that the log does not know',
    damage: ({ set, ids }) => set(ids.outside, AT.version, 9),
    finds: ['events outside'],
    stays: ['events outside'],
  },
  {
    what: 'an event that can not be read',
    damage: (patient) => redisOf(patient).xadd(patient.key('events'), '*', 't', 'nonsense', 'x', ''),
    finds: ['events'],
    stays: ['events'],
  },
  {
    what: 'a job without its settings',
    damage: (patient) => redisOf(patient).hdel(patient.key('job'), 'spec'),
    finds: ['job'],
    stays: ['job'],
  },
  {
    what: 'a job that no sweeper looks after',
    damage: ({ board, jobId }) => board.boards.index.removeLive(jobId),
    finds: ['live'],
  },
  orphan('head'),
  orphan('body'),
  orphan('outcome'),
  orphan('output'),
  orphan('deps'),
  orphan('edges'),
  orphan('replaces'),
  orphan('repeats'),
  orphan('usage'),
  orphan('progress'),
  orphan('journals'),
  orphan('runners'),
  orphan('attempts', `${NOBODY}:1`),
  orphan('repeats', 'claim:request', NOBODY),
  { ...orphan('unmet', NOBODY, '1'), stays: [] },
];

/** Findings in the form of the table above. */
async function examine(
  { board, jobId, ids }: Patient,
  options: { repair?: boolean } = {},
): Promise<string[]> {
  const names = new Map(Object.entries(ids).map(([name, id]) => [id, name]));
  const { findings } = await board.boards.examine(jobId, options);
  return findings
    .filter(({ repaired }) => !repaired)
    .map(({ check, taskId }) => (taskId === undefined ? check : `${check} ${names.get(taskId) ?? taskId}`))
    .sort();
}

async function statusesOf({ board, jobId }: Patient) {
  const names: TaskName[] = ['done', 'queued', 'running', 'next', 'late'];
  const { tasks } = await board.boards.page(jobId, { after: 0, limit: 100 });
  return tasks
    .filter(({ key }) => names.some((name) => name === key))
    .map(({ key, status, version, result }) => ({ key, status, version, result }));
}

describe('the doctor', () => {
  it.each(DAMAGES)('finds and mends $what', async ({ damage, finds, stays = [] }) => {
    await using board = await openBoardFixture();
    const patient = await aPatient(board);
    expect(await examine(patient)).toEqual([]);
    const before = await statusesOf(patient);
    await damage(patient);
    expect(await examine(patient)).toEqual([...finds].sort());
    expect(await examine(patient, { repair: true })).toEqual([...stays].sort());
    expect(await examine(patient)).toEqual([...stays].sort());
    if (stays.length === 0) expect(await statusesOf(patient)).toEqual(before);
  });

  it('says what stands where, and what it mended', async () => {
    await using board = await openBoardFixture();
    const patient = await aPatient(board);
    const { ids, jobId } = patient;
    await redisOf(patient).hset(patient.key('unmet'), ids.next, '5');
    const finding = {
      check: 'unmet',
      taskId: ids.next,
      found: '5 unmet, 0 lost',
      expected: '1 unmet, 0 lost',
    };
    expect(await board.boards.examine(jobId)).toEqual({
      jobId,
      status: 'running',
      tasks: 6,
      more: 0,
      remaining: 1,
      findings: [{ ...finding, repairable: true, repaired: false }],
    });
    const { findings } = await board.boards.examine(jobId, { repair: true });
    expect(findings).toEqual([{ ...finding, repairable: true, repaired: true }]);
  });

  it('sets a stuck task free, and never one that still has to wait', async () => {
    await using board = await openBoardFixture();
    const patient = await aPatient(board);
    const { boards } = board;
    const { jobId, ids, key } = patient;
    const first = await board.claim(jobId, ids.queued);
    await boards.submit(first.hold, 'r1', first.task.version, RESULT);
    const second = await board.claim(jobId, ids.next);
    await boards.release(second.hold, 'r1', 'later');
    await boards.pauseJob(jobId, ANN, 'user', 'wait');
    // As if the settle of `queued` had been lost for `next`: it waits for what is done.
    await redisOf(patient).hset(key('edges'), ids.queued, `${ids.next}cu`);
    await redisOf(patient).hset(key('unmet'), ids.next, '1');
    await redisOf(patient).zrem(key('window'), ids.next);
    await patient.set(ids.next, 2, 6);
    await boards.examine(jobId, { repair: true });
    await boards.resumeJob(jobId, ANN);
    expect(await examine(patient)).toEqual([]);
    expect((await board.claim(jobId, ids.next)).task.attempt).toBe(2);
  });

  it('gives a holder that lost its lease a whole one', async () => {
    await using board = await openBoardFixture();
    const patient = await aPatient(board);
    const { boards } = board;
    const { jobId, ids, key } = patient;
    await boards.claim(jobId, {
      taskId: ids.outside,
      owner: { kind: 'external', id: 'ext-1' },
      secret: 'secret',
      requestId: 'request',
      leaseMs: 600_000,
    });
    await redisOf(patient).zrem(key('lease'), ids.running, ids.outside);
    await boards.examine(jobId, { repair: true });
    const leftMs = async (id: string) =>
      Date.parse((await boards.task(jobId, id)).leaseUntil ?? '') - Date.now();
    expect(Math.round((await leftMs(ids.running)) / 10_000)).toBe(3);
    expect(Math.round((await leftMs(ids.outside)) / 10_000)).toBe(60);
  });

  it('brings the lease of a lost runner of checks back, so that another one may take them', async () => {
    await using board = await openBoardFixture();
    const patient = await aPatient(board);
    const { boards } = board;
    const { jobId, ids, key } = patient;
    const held = await board.claim(jobId, ids.queued);
    await boards.submit(held.hold, 'r1', held.task.version, RESULT, 'checks');
    await boards.startChecks(jobId, ids.queued, 'harness:checks', 30_000);
    await redisOf(patient).zrem(key('lease'), ids.queued);
    expect(await examine(patient)).toEqual(['lease queued']);
    expect(await examine(patient, { repair: true })).toEqual([]);
    expect(await redisOf(patient).zscore(key('lease'), ids.queued)).not.toBeNull();
  });

  it('goes on with a slice that had no entry in the outbox', async () => {
    await using board = await openBoardFixture();
    const patient = await aPatient(board);
    const { jobId, ids, key } = patient;
    await redisOf(patient).hset(key('slices'), ids.done, '0');
    await patient.set('@', AT.slices, 1);
    await board.boards.examine(jobId, { repair: true });
    expect(await board.boards.readOutbox(jobId, 10)).toMatchObject([{ kind: 'settle', taskId: ids.done }]);
    await drainOutbox(board.boards, jobId);
    expect(await redisOf(patient).hlen(key('slices'))).toBe(0);
    expect(await examine(patient)).toEqual([]);
  });

  // Takes minutes on the embedded server, whose scripts copy every value they touch.
  it.skipIf(isEmbedded)('looks at the dependents of a task in slices, and mends them all', async () => {
    await using board = await openBoardFixture();
    const dependents = Array.from({ length: 1200 }, (_, i) => ({ title: `Task ${i}`, dependsOn: ['root'] }));
    const { jobId, ids } = await board.job([{ key: 'root', title: 'Root' }, ...dependents]);
    const { boards, store } = board;
    const root = ids.root ?? '';
    await boards.index.addLive(jobId);
    const key = boards.keys.board(jobId, 'edges');
    const edges = (await store.redis.hget(key, root)) ?? '';
    await store.redis.hset(key, root, edges.replace(/(.{10}c)u/g, '$1m'));
    const { findings, more, remaining } = await boards.examine(jobId, { repair: true });
    expect(findings).toHaveLength(1000);
    expect({ more, remaining }).toEqual({ more: 200, remaining: 0 });
    expect(new Set(findings.map(({ check, repaired }) => `${check} ${repaired}`))).toEqual(
      new Set(['edges true']),
    );
    expect(await store.redis.hget(key, root)).toBe(edges);
    expect((await boards.examine(jobId)).findings).toEqual([]);
  });

  it('takes an ended job out of the live index, but not while its outbox holds something', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, ids } = await board.job([{ key: 'a', title: 'A' }]);
    await boards.index.addLive(jobId);
    const held = await board.claim(jobId, ids.a ?? '');
    await boards.submit(held.hold, 'r1', held.task.version, RESULT);
    const options = { repair: true, outboxMs: -1 };
    const withOutbox = await boards.examine(jobId, options);
    expect([...new Set(withOutbox.findings.map(({ check }) => check))]).toEqual(['outbox']);
    expect(await boards.index.isLive(jobId)).toBe(true);
    await drainOutbox(boards, jobId);
    expect((await boards.examine(jobId)).findings).toEqual([]);
    expect((await boards.examine(jobId, options)).findings.map(({ check }) => check)).toEqual(['live']);
    expect(await boards.index.isLive(jobId)).toBe(false);
  });

  it('refuses a job that does not exist, and stops when it is told to', async () => {
    await using board = await openBoardFixture();
    const { jobId } = await aPatient(board);
    await expect(board.boards.examine('job_zzzzzzzzzzzz')).rejects.toMatchObject({ code: 'not_found' });
    const stopped = AbortSignal.abort(new Error('enough'));
    await expect(board.boards.examine(jobId, { signal: stopped })).rejects.toThrow('enough');
  });
});

describe('a healthy board', () => {
  it.each([1, 2, 3, 4, 5, 6])('has no findings after random history %i', async (seed) => {
    await using board = await openBoardFixture();
    const { jobId } = await board.job([{ title: 'First' }, { title: 'Second' }], { lead: seed % 2 === 0 });
    await board.boards.index.addLive(jobId);
    await playHistory(board, jobId, seed, 150);
    const report = await board.boards.examine(jobId);
    expect(report.findings).toEqual([]);
    expect(report.tasks).toBeGreaterThan(2);
  });

  it('has no findings while it is worked on', async () => {
    await using board = await openBoardFixture();
    const { jobId } = await board.job([{ title: 'First' }, { title: 'Second' }]);
    await board.boards.index.addLive(jobId);
    let isPlaying = true;
    const playing = playHistory(board, jobId, 7, 150).finally(() => {
      isPlaying = false;
    });
    let looks = 0;
    while (isPlaying) {
      expect((await board.boards.examine(jobId)).findings).toEqual([]);
      looks += 1;
    }
    await playing;
    expect(looks).toBeGreaterThan(2);
  });

  it('has no findings when its job was opened again, and task 0 with it', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const { jobId, ids } = await board.job([{ key: 'a', title: 'A' }], { lead: true });
    await boards.index.addLive(jobId);
    const lead = (await boards.job(jobId)).lead ?? '';
    const a = await board.claim(jobId, ids.a ?? '');
    await boards.submit(a.hold, 'r1', a.task.version, RESULT);
    const held = await board.claim(jobId, lead);
    const news = (await boards.events(jobId, '0-0', 100)).at(-1)?.id ?? '';
    const journal = await boards.openJournal(held.hold, { attempt: 1, cursorFor: () => news });
    await journal.append({ kind: 'message', texts: ['a is done'] });
    expect(await boards.finishJob(held.hold, 'r2', { summary: 'done' }, [])).toMatchObject({ kind: 'ended' });
    const version = (await boards.task(jobId, ids.a ?? '')).version;
    const reopens = [{ taskId: ids.a ?? '', version, reason: 'again' }];
    await boards.change(jobId, { by: ANN, maxAttempts: 3, reopens });
    expect(await boards.task(jobId, lead)).toMatchObject({ status: 'pending' });
    expect((await boards.examine(jobId)).findings).toEqual([]);
  });
});
