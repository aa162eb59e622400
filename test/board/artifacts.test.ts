import { newSecret } from '@crewboard/contracts';
import { describe, expect, inject, it } from 'vitest';
import { openTestStore } from '../support/artifacts.ts';
import { ANN, openBoardFixture } from '../support/board.ts';

const RESULT = { summary: 'done', evidence: [] };
const FAILURE = { class: 'model', reason: 'no idea', retryable: true, delayMs: 0, infraStrikes: 3 } as const;

/** A board of `a` and `b`, which depends on it, and of `c`; a store; and the moves of a holder. */
async function openRig() {
  const board = await openBoardFixture();
  const store = await openTestStore();
  const { boards } = board;
  const { jobId, ids } = await board.job([
    { key: 'a', title: 'A' },
    { key: 'b', title: 'B', dependsOn: ['a'] },
    { key: 'c', title: 'C' },
  ]);
  const { a = '', b = '', c = '' } = ids;
  await boards.index.addLive(jobId);
  return {
    board,
    boards,
    store,
    jobId,
    a,
    b,
    c,
    claim: (taskId: string) => board.claim(jobId, taskId),
    put: store.put.bind(undefined, board),
    /** Paths that show, in the order of the list. */
    shown: async () => (await boards.artifactPage(jobId, 0, 100)).artifacts.map(({ path }) => path),
    find: async (name: string, reader?: string) => (await boards.findArtifact(jobId, name, reader))?.ref,
    refsOf: async (taskId: string) => (await boards.task(jobId, taskId)).result?.artifacts,
    async [Symbol.asyncDispose]() {
      expect((await boards.examine(jobId)).findings).toEqual([]);
      await store[Symbol.asyncDispose]();
      await board[Symbol.asyncDispose]();
    },
  };
}

describe('an artifact of an attempt', () => {
  it('shows under its path once the submit is accepted, in the same step', async () => {
    await using rig = await openRig();
    const { hold, task } = await rig.claim(rig.a);
    const made = await rig.put(hold, 'out/report.md', 'all is well');
    expect(made).toMatchObject({
      path: 'out/report.md',
      bytes: 11,
      contentType: 'text/markdown',
      taskId: rig.a,
    });
    expect(await rig.shown()).toEqual([]);
    expect(await rig.find('out/report.md')).toBeUndefined();
    await rig.boards.submit(hold, 's', task.version, RESULT);
    expect(await rig.shown()).toEqual(['out/report.md']);
    expect(await rig.boards.findArtifact(rig.jobId, 'out/report.md')).toEqual(made);
    expect(await rig.refsOf(rig.a)).toEqual([made.ref]);
  });

  it('is named in the submit by ref or path; without names all files are meant, with none none', async () => {
    await using rig = await openRig();
    const first = await rig.claim(rig.a);
    const one = await rig.put(first.hold, 'one.txt', '1');
    await rig.put(first.hold, 'two.txt', '2');
    const three = await rig.put(first.hold, 'three.txt', '3');
    const named = { ...RESULT, artifacts: ['three.txt', one.ref] };
    await rig.boards.submit(first.hold, 's', first.task.version, named);
    expect(await rig.refsOf(rig.a)).toEqual([three.ref, one.ref]);
    expect(await rig.shown()).toEqual(['one.txt', 'two.txt', 'three.txt']);
    const second = await rig.claim(rig.b);
    await rig.put(second.hold, 'four.txt', '4');
    await rig.boards.submit(second.hold, 's', second.task.version, { ...RESULT, artifacts: [] });
    expect(await rig.refsOf(rig.b)).toEqual([]);
  });

  it('that is unknown refuses the submit, after version and token, and changes nothing', async () => {
    await using rig = await openRig();
    const other = await rig.claim(rig.c);
    const foreign = await rig.put(other.hold, 'c.txt', 'of another task');
    const { hold, task } = await rig.claim(rig.a);
    await rig.put(hold, 'mine.txt', 'mine');
    const naming = (artifacts: string[], version = task.version) =>
      rig.boards.submit(hold, 's', version, { ...RESULT, artifacts });
    await expect(naming(['no.txt'], 1)).rejects.toMatchObject({ code: 'stale_version' });
    for (const name of ['no.txt', foreign.ref, 'c.txt', '']) {
      await expect(naming(['mine.txt', name])).rejects.toMatchObject({
        code: 'invalid_argument',
        extras: { reference: name },
      });
    }
    expect((await rig.boards.task(rig.jobId, rig.a)).status).toBe('in_progress');
    expect(await rig.shown()).toEqual([]);
    await naming(['mine.txt']);
    expect(await rig.shown()).toEqual(['mine.txt']);
  });

  it('must exist to be evidence or an output', async () => {
    await using rig = await openRig();
    const { hold, task } = await rig.claim(rig.a);
    const made = await rig.put(hold, 'big.json', '[1, 2, 3]');
    const submit = (result: object) => rig.boards.submit(hold, 's', task.version, { ...RESULT, ...result });
    const nobody = 'a_00000000000000000000';
    const evidence = (ref: string) => [{ kind: 'artifact' as const, ref }];
    await expect(submit({ evidence: evidence(nobody) })).rejects.toMatchObject({ code: 'invalid_argument' });
    await expect(submit({ output: { ref: nobody } })).rejects.toMatchObject({ code: 'invalid_argument' });
    await submit({ output: { ref: made.ref }, evidence: evidence('big.json') });
    expect(await rig.boards.task(rig.jobId, rig.a)).toMatchObject({
      result: { output: { ref: made.ref }, artifacts: [made.ref] },
      evidence: evidence('big.json'),
    });
  });

  it('is the same again when its call is repeated, also by the next attempt of the conversation', async () => {
    await using rig = await openRig();
    const first = await rig.claim(rig.a);
    const made = await rig.put(first.hold, 'a.txt', 'x', { requestId: '1/t1' });
    expect(await rig.put(first.hold, 'a.txt', 'x', { requestId: '1/t1' })).toEqual(made);
    await rig.boards.release(first.hold, 'r', 'later');
    const second = await rig.claim(rig.a);
    expect(await rig.put(second.hold, 'a.txt', 'x', { requestId: '1/t1' })).toEqual(made);
    await rig.boards.submit(second.hold, 's', second.task.version, { ...RESULT, artifacts: ['a.txt'] });
    expect(await rig.refsOf(rig.a)).toEqual([made.ref]);
  });

  it('replaces the one before it under the same path, in the attempt and among accepted ones', async () => {
    await using rig = await openRig();
    const first = await rig.claim(rig.a);
    const draft = await rig.put(first.hold, 'r.md', 'draft');
    const final = await rig.put(first.hold, 'r.md', 'final');
    expect(await rig.find(draft.ref)).toBeUndefined();
    await rig.boards.submit(first.hold, 's', first.task.version, RESULT);
    expect(await rig.find('r.md')).toBe(final.ref);

    const other = await rig.claim(rig.c);
    const newer = await rig.put(other.hold, 'r.md', 'from c');
    expect(await rig.find('r.md')).toBe(final.ref);
    await rig.boards.submit(other.hold, 's', other.task.version, RESULT);
    expect(await rig.find('r.md')).toBe(newer.ref);
    expect(await rig.shown()).toEqual(['r.md']);
    // What a's result names stays what it was.
    expect(await rig.find(final.ref)).toBe(final.ref);
  });

  it('of a reopened task replaces its own older version', async () => {
    await using rig = await openRig();
    const first = await rig.claim(rig.c);
    const old = await rig.put(first.hold, 'r.md', 'old');
    await rig.boards.submit(first.hold, 's', first.task.version, RESULT);
    const { version } = await rig.boards.task(rig.jobId, rig.c);
    const reopens = [{ taskId: rig.c, version, reason: 'again' }];
    await rig.boards.change(rig.jobId, { by: ANN, maxAttempts: 3, reopens });
    expect(await rig.shown()).toEqual(['r.md']);
    const second = await rig.claim(rig.c);
    const fresh = await rig.put(second.hold, 'r.md', 'new');
    expect(await rig.find('r.md')).toBe(old.ref);
    await rig.boards.submit(second.hold, 's2', second.task.version, RESULT);
    expect(await rig.find('r.md')).toBe(fresh.ref);
    expect(await rig.find(old.ref)).toBeUndefined();
    expect(await rig.boards.wantedContents(rig.jobId, [old.sha256, fresh.sha256])).toEqual(
      new Set([fresh.sha256]),
    );
  });

  it('is forgotten when the attempt fails, and no other one that has the same content', async () => {
    await using rig = await openRig();
    const other = await rig.claim(rig.c);
    const theirs = await rig.put(other.hold, 'c.txt', 'same');
    const failing = await rig.claim(rig.a);
    const same = await rig.put(failing.hold, 'a.txt', 'same');
    const own = await rig.put(failing.hold, 'b.txt', 'own');
    expect(same.sha256).toBe(theirs.sha256);
    await rig.boards.fail(failing.hold, 'f', FAILURE);
    expect(await Promise.all([same, own].map(({ ref }) => rig.find(ref)))).toEqual([undefined, undefined]);
    expect(await rig.boards.wantedContents(rig.jobId, [same.sha256, own.sha256])).toEqual(
      new Set([same.sha256]),
    );
    const next = await rig.claim(rig.a);
    const naming = rig.boards.submit(next.hold, 's', next.task.version, { ...RESULT, artifacts: ['a.txt'] });
    await expect(naming).rejects.toMatchObject({ code: 'invalid_argument' });
    await rig.boards.submit(next.hold, 's', next.task.version, RESULT);
    expect(await rig.shown()).toEqual([]);
  });

  it('is handed on when the attempt was parked, lost or blocked: the conversation goes on', async () => {
    await using rig = await openRig();
    const first = await rig.claim(rig.a);
    const made = await rig.put(first.hold, 'a.txt', 'x');
    await rig.boards.block(first.hold, 'b', { kind: 'needs_input', reason: 'which?' });
    const { version } = await rig.boards.task(rig.jobId, rig.a);
    const answer = { taskId: rig.a, version, decision: 'unblock', text: 'this', by: ANN } as const;
    await rig.boards.resolve(rig.jobId, answer);
    const second = await rig.claim(rig.a);
    await rig.boards.submit(second.hold, 's', second.task.version, { ...RESULT, artifacts: [made.ref] });
    expect(await rig.shown()).toEqual(['a.txt']);
  });

  it('is accepted task by task when submits of one board meet in one script', async () => {
    await using rig = await openRig();
    const claims = [await rig.claim(rig.a), await rig.claim(rig.c)];
    for (const [i, { hold }] of claims.entries()) await rig.put(hold, `f${i}`, `content ${i}`);
    const [first, second] = await Promise.allSettled(
      claims.map(({ hold, task }, i) =>
        rig.boards.submit(hold, 's', task.version, { ...RESULT, artifacts: [i === 0 ? 'no.txt' : 'f1'] }),
      ),
    );
    expect([first?.status, second?.status]).toEqual(['rejected', 'fulfilled']);
    expect(await rig.shown()).toEqual(['f1']);
  });

  // Each of the 500 copies all before it on the embedded server.
  it.runIf(inject('redisKind') === 'server')(
    'refuses more than a bounded number before a submit',
    async () => {
      await using rig = await openRig();
      const { hold, task } = await rig.claim(rig.a);
      const commit = (i: number) =>
        rig.boards.commitArtifact(hold, '', {
          ref: `a_${String(i).padStart(20, '0')}`,
          path: `f/${i}`,
          bytes: 1,
          sha256: '0'.repeat(64),
          contentType: 'text/plain',
          isKept: false,
        });
      for (let i = 0; i < 500; i++) await commit(i);
      await expect(commit(500)).rejects.toMatchObject({ code: 'limit_exceeded' });
      await commit(499);
      await rig.boards.submit(hold, 's', task.version, RESULT);
      expect((await rig.boards.task(rig.jobId, rig.a)).result?.artifacts).toHaveLength(500);
    },
  );
});

describe('a submission that is reviewed', () => {
  it.each([
    ['approve', ['r.md']],
    ['reject', []],
  ] as const)('shows its artifacts when it is approved, not before: %s', async (decision, shown) => {
    await using board = await openBoardFixture();
    await using store = await openTestStore();
    const { jobId, ids } = await board.job([{ key: 'a', title: 'A', policy: 'approved' }]);
    const { hold, task } = await board.claim(jobId, ids.a ?? '');
    const made = await store.put(board, hold, 'r.md', 'for review');
    await board.boards.submit(hold, 's', task.version, RESULT, 'review');
    const paths = async () =>
      (await board.boards.artifactPage(jobId, 0, 10)).artifacts.map(({ path }) => path);
    expect(await paths()).toEqual([]);
    // Whoever reviews it finds it by the ref that the result names.
    const [ref] = (await board.boards.task(jobId, task.id)).result?.artifacts ?? [];
    expect(await board.boards.findArtifact(jobId, ref ?? '')).toEqual(made);
    const { version } = await board.boards.task(jobId, task.id);
    await board.boards.resolve(jobId, { taskId: task.id, version, decision, text: '', by: ANN });
    expect(await paths()).toEqual(shown);
  });
});

describe('a submission whose checks a worker runs', () => {
  it.each([
    [true, ['r.md'], 1],
    [false, [], 0],
  ] as const)(
    'shows its artifacts when they pass, and loses them when not: %s',
    async (passed, shown, wanted) => {
      await using board = await openBoardFixture();
      await using store = await openTestStore();
      const { jobId, ids } = await board.job([{ key: 'a', title: 'A' }]);
      const { hold, task } = await board.claim(jobId, ids.a ?? '');
      const made = await store.put(board, hold, 'r.md', 'to be checked');
      const naming = (artifacts: string[]) =>
        board.boards.submit(hold, 's', task.version, { ...RESULT, artifacts }, 'checks');
      await expect(naming(['no.md'])).rejects.toMatchObject({ code: 'invalid_argument' });
      await naming(['r.md']);
      expect((await board.boards.task(jobId, task.id)).result?.artifacts).toEqual([made.ref]);
      const check = await board.boards.startChecks(jobId, task.id, 'runner', 60_000);
      const told = passed
        ? { passed, checks: ['links'] }
        : { passed, check: 'links', reason: 'one is broken' };
      const verdict = { passed, reason: 'no', evidence: [], delayMs: 0, told };
      await board.boards.endChecks(jobId, task.id, check ?? { token: '', version: 0 }, verdict);
      const page = await board.boards.artifactPage(jobId, 0, 10);
      expect(page.artifacts.map(({ path }) => path)).toEqual(shown);
      expect((await board.boards.wantedContents(jobId, [made.sha256])).size).toBe(wanted);
    },
  );
});

describe('who may read', () => {
  it('a task its own and those of its dependencies, the lead and people all of the board', async () => {
    await using rig = await openRig();
    const first = await rig.claim(rig.a);
    const ofA = await rig.put(first.hold, 'a.txt', 'from a');
    expect(await rig.find('a.txt', rig.a)).toBe(ofA.ref);
    // Not accepted yet: nothing for a dependent.
    expect(await rig.find(ofA.ref, rig.b)).toBeUndefined();
    expect(await rig.find(ofA.ref)).toBe(ofA.ref);
    await rig.boards.submit(first.hold, 's', first.task.version, RESULT);
    for (const name of [ofA.ref, 'a.txt']) {
      expect(await rig.find(name, rig.b)).toBe(ofA.ref);
      expect(await rig.find(name, rig.c)).toBeUndefined();
      expect(await rig.find(name)).toBe(ofA.ref);
    }
  });

  it('never those of another job', async () => {
    await using rig = await openRig();
    const { hold } = await rig.claim(rig.a);
    const { ref } = await rig.put(hold, 'a.txt', 'secret');
    const other = await rig.board.job([{ title: 'Other' }]);
    expect(await rig.boards.findArtifact(other.jobId, ref)).toBeUndefined();
  });
});

describe('a kept output', () => {
  it('is read by ref and shows under no path, unless the submit names it', async () => {
    await using rig = await openRig();
    const { hold, task } = await rig.claim(rig.a);
    const quiet = await rig.put(hold, 'tool-output/1.txt', 'long', { isKept: true });
    const named = await rig.put(hold, 'tool-output/2.txt', 'log', { isKept: true });
    const naming = (artifacts: string[]) =>
      rig.boards.submit(hold, 's', task.version, { ...RESULT, artifacts });
    await expect(naming([quiet.ref, 'no.txt'])).rejects.toMatchObject({ code: 'invalid_argument' });
    await naming([named.ref]);
    expect(await rig.shown()).toEqual(['tool-output/2.txt']);
    expect(await rig.refsOf(rig.a)).toEqual([named.ref]);
    expect(await rig.find(quiet.ref)).toBe(quiet.ref);
  });
});

describe('the list of what shows', () => {
  it('comes in pages that stay stable while files are replaced', async () => {
    await using board = await openBoardFixture();
    await using store = await openTestStore();
    const { jobId, ids } = await board.job([
      { key: 'a', title: 'A' },
      { key: 'b', title: 'B' },
    ]);
    const submitFiles = async (key: string, names: string[]) => {
      const { hold, task } = await board.claim(jobId, ids[key] ?? '');
      for (const name of names) await store.put(board, hold, name, `${key} ${name}`);
      await board.boards.submit(hold, newSecret(), task.version, RESULT);
    };
    const numbered = Array.from({ length: 25 }, (_, i) => `f${i}`);
    await submitFiles('a', numbered);
    const first = await board.boards.artifactPage(jobId, 0, 10);
    expect(first.artifacts.map(({ path }) => path)).toEqual(numbered.slice(0, 10));
    await submitFiles('b', ['f0', 'f12', 'new']);
    const rest = await board.boards.artifactPage(jobId, first.nextAfter ?? 0, 100);
    expect(rest.artifacts.map(({ path }) => path)).toEqual([
      ...numbered.slice(10).filter((name) => name !== 'f12'),
      'f0',
      'f12',
      'new',
    ]);
    expect(rest.nextAfter).toBeUndefined();
  });
});
