import { readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { newJobId } from '@crewboard/contracts';
import { describe, expect, it } from 'vitest';
import { AS_ADMIN } from '../../api/open-app.ts';
import { openRealApp } from '../../api/open-real-app.ts';
import { drainOutbox } from '../../board/random-history.ts';
import { ANN } from '../../support/board.ts';
import { endedJob } from '../../support/ended-job.ts';
import { NEVER, openRetentionRig, type RetentionRig } from '../../support/retention.ts';

const DAY_MS = 86_400_000;

async function reopen({ board: { boards } }: RetentionRig, jobId: string, taskId = ''): Promise<void> {
  const { version } = await boards.task(jobId, taskId);
  await boards.change(jobId, { by: ANN, reopens: [{ taskId, version, reason: 'again' }] });
}

/** Claims and submits a task: the job ends with it. */
async function finish({ board }: RetentionRig, jobId: string, taskId = ''): Promise<void> {
  const { hold, task } = await board.claim(jobId, taskId);
  await board.boards.submit(hold, `end/${task.attempt}`, task.version, { summary: 'again', evidence: [] });
  await drainOutbox(board.boards, jobId);
}

const linesOf = async (rig: RetentionRig, jobId: string): Promise<string[]> =>
  (await readFile(rig.archivePath(jobId), 'utf8')).trimEnd().split('\n');

describe('the archive of an ended job', () => {
  it('is one file of JSON lines: what it is, the job, tasks, files, events, and its end', async () => {
    await using rig = await openRetentionRig();
    const { jobId } = await endedJob(rig);
    await rig.archiveJob(jobId, NEVER);
    const lines = (await linesOf(rig, jobId)).map((line) => JSON.parse(line));
    const kinds = lines.map(({ kind }) => kind).filter((kind, i, all) => kind !== all[i - 1]);
    expect(kinds).toEqual(['archive', 'job', 'task', 'artifact', 'event', 'end']);
    expect(lines[0]).toMatchObject({ v: 1, jobId });
    expect(lines[1].job).toMatchObject({ status: 'partial', spec: { title: 'A job' } });
    const tasks = lines.filter(({ kind }) => kind === 'task');
    expect(tasks.map(({ task, attempts }) => [task.title, task.status, attempts.length])).toEqual([
      ['Done', 'completed', 1],
      ['Again', 'completed', 2],
      ['Failed', 'failed', 1],
      ['Behind', 'pending', 0],
      ['Cancelled', 'cancelled', 0],
      ['More', 'cancelled', 0],
    ]);
    expect((await stat(rig.archivePath(jobId))).mode & 0o777).toBe(0o600);
  });

  it('is the same when it is made twice, also by two at once', async () => {
    await using rig = await openRetentionRig();
    const { jobId } = await endedJob(rig);
    await Promise.all([rig.archiveJob(jobId, NEVER), rig.archiveJob(jobId, NEVER)]);
    const first = await linesOf(rig, jobId);
    const { mtimeMs } = await stat(rig.archivePath(jobId));
    await rig.archiveJob(jobId, NEVER);
    expect(await linesOf(rig, jobId)).toEqual(first);
    expect((await stat(rig.archivePath(jobId))).mtimeMs).toBe(mtimeMs);
  });

  it('goes when the job is opened again, and is written anew at its next end', async () => {
    await using rig = await openRetentionRig();
    const { jobId, ids } = await endedJob(rig);
    await rig.archiveJob(jobId, NEVER);
    await reopen(rig, jobId, ids.failed);
    const handed = await rig.board.boards.readOutbox(jobId, 100);
    expect(handed.map(({ kind }) => kind)).toContain('archive');
    await rig.archiveJob(jobId, NEVER);
    expect(await rig.archives.job(jobId)).toBeUndefined();
    expect(await rig.board.boards.index.isEndedListed(jobId)).toBe(false);

    await finish(rig, jobId, ids.failed);
    await finish(rig, jobId, ids.behind);
    await rig.archiveJob(jobId, NEVER);
    expect((await rig.archives.job(jobId))?.job.counts).toMatchObject({ completed: 4, failed: 0 });
  });

  it('leaves the doctor nothing to find', async () => {
    await using rig = await openRetentionRig();
    const { jobId } = await endedJob(rig);
    await rig.archiveJob(jobId, NEVER);
    await rig.board.boards.index.removeLive(jobId);
    const { findings } = await rig.board.boards.examine(jobId);
    expect(findings).toEqual([]);
  });
});

describe('the way out of Redis', () => {
  it('is for jobs whose time has come, and nothing of them stays but their place in the list', async () => {
    await using rig = await openRetentionRig();
    const { boards } = rig.board;
    const { jobId } = await endedJob(rig);
    const open = await rig.board.job([{ title: 'Open' }]);
    for (const id of [jobId, open.jobId]) await boards.index.list(id, 'default', 1);
    await rig.retentionOf(DAY_MS).mend(NEVER);
    await rig.archiveJob(jobId, NEVER);
    await rig.retentionOf(DAY_MS).round(NEVER);
    expect(await boards.isInRedis(jobId)).toBe(true);

    await rig.retentionOf(0).round(NEVER);
    expect(await rig.keysOf(jobId)).toEqual([]);
    expect(await boards.isInRedis(open.jobId)).toBe(true);
    expect(await boards.index.isEndedListed(jobId)).toBe(false);
    expect(await boards.index.listed('default', 10)).toContain(jobId);
  });

  it('waits until all is handed on', async () => {
    await using rig = await openRetentionRig();
    const { jobId, ids } = await endedJob(rig);
    await reopen(rig, jobId, ids.cancelled);
    const { hold, task } = await rig.board.claim(jobId, ids.cancelled ?? '');
    await rig.board.boards.submit(hold, 's', task.version, { summary: 'done', evidence: [] });
    const retention = rig.retentionOf(0);
    expect(await retention.removeJob(jobId, NEVER)).toBe(false);
    await drainOutbox(rig.board.boards, jobId);
    expect(await retention.removeJob(jobId, NEVER)).toBe(true);
  });

  it('goes on after a death between the archive and the removal', async () => {
    await using rig = await openRetentionRig();
    const { jobId } = await endedJob(rig);
    const dies = {
      ...rig.board.boards,
      removeArchived: () => Promise.reject(new Error('killed')),
    };
    await expect(rig.retentionOf(0, dies).removeJob(jobId, NEVER)).rejects.toThrow('killed');
    expect(await rig.board.boards.isInRedis(jobId)).toBe(true);
    expect((await rig.boards.job(jobId)).status).toBe('partial');
    await rig.retentionOf(0).round(NEVER);
    expect(await rig.keysOf(jobId)).toEqual([]);
    expect((await rig.boards.job(jobId)).status).toBe('partial');
  });

  it('goes on after a death between the removal and the note of it', async () => {
    await using rig = await openRetentionRig();
    const { boards } = rig.board;
    const { jobId } = await endedJob(rig);
    const dies = {
      ...boards,
      index: { ...boards.index, removeEnded: () => Promise.reject(new Error('killed')) },
    };
    await expect(rig.retentionOf(0, dies).removeJob(jobId, NEVER)).rejects.toThrow('killed');
    expect(await boards.index.isEndedListed(jobId)).toBe(true);
    await rig.retentionOf(0).round(NEVER);
    expect(await boards.index.isEndedListed(jobId)).toBe(false);
    expect((await rig.boards.job(jobId)).status).toBe('partial');
  });

  it('is closed to a job that is opened again in the last moment, whatever its archive says', async () => {
    await using rig = await openRetentionRig();
    const { boards } = rig.board;
    const { jobId, ids } = await endedJob(rig);
    const reopens = {
      ...boards,
      async removeArchived(...call: Parameters<typeof boards.removeArchived>) {
        await reopen(rig, jobId, ids.failed);
        return boards.removeArchived(...call);
      },
    };
    expect(await rig.retentionOf(0, reopens).removeJob(jobId, NEVER)).toBe(false);
    expect((await boards.job(jobId)).status).toBe('running');
    // Ended again: the archive is of the end before, and is written anew before anything goes.
    await finish(rig, jobId, ids.failed);
    await finish(rig, jobId, ids.behind);
    expect(await rig.retentionOf(0).removeJob(jobId, NEVER)).toBe(true);
    expect((await rig.boards.job(jobId)).counts).toMatchObject({ completed: 4 });
  });

  it('takes the money of a call with it that was settled after the archive was written', async () => {
    await using rig = await openRetentionRig();
    const { boards } = rig.board;
    const { jobId, ids } = await rig.board.job([{ key: 'a', title: 'A' }]);
    const { hold, task } = await rig.board.claim(jobId, ids.a ?? '');
    const price = { inputNanoUsd: 1e9, outputNanoUsd: 0 };
    const call = { callId: 'call-1', price, inputTokens: 10, maxTokens: 10, leastMaxTokens: 1 };
    expect(await boards.reserveCall(hold, call)).toMatchObject({ kind: 'reserved' });
    await boards.submit(hold, 's', task.version, { summary: 'done', evidence: [] });
    await drainOutbox(boards, jobId);
    await rig.archiveJob(jobId, NEVER);
    expect((await rig.archives.job(jobId))?.job.money).toMatchObject({ settledUsd: 0, estimatedUsd: 1 });

    const usage = {
      modelCalls: 1,
      inputTokens: 10,
      outputTokens: 5,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
    };
    await boards.settleCall(hold, call.callId, { kind: 'settled', nanoUsd: 2e8, usage });
    await rig.retentionOf(0).round(NEVER);
    expect(await rig.keysOf(jobId)).toEqual([]);
    expect((await rig.boards.job(jobId)).money).toMatchObject({ settledUsd: 0.2, estimatedUsd: 0 });
  });

  it('is not closed by a job whose archive can not be written', async () => {
    await using rig = await openRetentionRig();
    const { boards } = rig.board;
    const stuck = await endedJob(rig);
    const free = await endedJob(rig);
    for (const { jobId } of [stuck, free]) await rig.archiveJob(jobId, NEVER);
    await truncate(rig.archivePath(stuck.jobId), 10);
    const { write } = rig.archives;
    rig.archives.write = (jobId, lines) =>
      jobId === stuck.jobId ? Promise.reject(new Error('no')) : write(jobId, lines);
    await rig.retentionOf(0).round(NEVER);
    expect(await boards.isInRedis(stuck.jobId)).toBe(true);
    expect(await boards.isInRedis(free.jobId)).toBe(false);
  });

  it('is not closed by many that can not be removed, and forgets those of which nothing is left', async () => {
    await using rig = await openRetentionRig();
    const { boards, store } = rig.board;
    const { jobId } = await endedJob(rig);
    await rig.archiveJob(jobId, NEVER);
    const listed = boards.keys.global('ended');
    const gone = Array.from({ length: 120 }, () => newJobId());
    for (const id of gone) await store.redis.zadd(listed, 1, id);
    const { removeEnded } = boards.index;
    boards.index.removeEnded = (id) => (id === jobId ? removeEnded(id) : Promise.reject(new Error('no')));
    await rig.retentionOf(0).round(NEVER);
    expect(await boards.isInRedis(jobId)).toBe(false);
    expect(await store.redis.zcard(listed)).toBe(gone.length);
    boards.index.removeEnded = removeEnded;
    // A round removes 100.
    await rig.retentionOf(0).round(NEVER);
    await rig.retentionOf(0).round(NEVER);
    expect(await store.redis.zcard(listed)).toBe(0);
  });

  it('is found for ended jobs that nobody archived', async () => {
    await using rig = await openRetentionRig();
    const { boards, store } = rig.board;
    const { jobId } = await endedJob(rig);
    await boards.index.list(jobId, 'default', 1);
    await rig.retentionOf(0).mend(NEVER);
    // It ended just now: its own hand-over is under way.
    expect(await boards.index.isEndedListed(jobId)).toBe(false);
    const later = {
      ...boards,
      stampOf: async (id: string) => ({ stamp: (await boards.stampOf(id))?.stamp ?? '', endedAt: 1 }),
    };
    await rig.retentionOf(0, later).mend(NEVER);
    expect(await boards.index.isEndedListed(jobId)).toBe(true);
    expect(await rig.archives.stampOf(jobId)).toBe((await boards.stampOf(jobId))?.stamp);
    expect(await store.redis.exists(boards.keys.board(jobId, 'hot'))).toBe(1);
  });
});

describe('a damaged archive', () => {
  const damages: [string, (path: string) => Promise<void>][] = [
    ['cut off in the middle', async (path) => truncate(path, Math.floor((await stat(path)).size / 2))],
    ['without its last line', async (path) => truncate(path, (await stat(path)).size - 80)],
    [
      'with another letter',
      async (path) => writeFile(path, (await readFile(path, 'utf8')).replace('Cancelled', 'Cancelles')),
    ],
    ['with more at its end', async (path) => writeFile(path, '{"kind":"event"}\n', { flag: 'a' })],
    ['empty', async (path) => truncate(path, 0)],
    [
      'of a newer version',
      async (path) => writeFile(path, (await readFile(path, 'utf8')).replace('"v":1', '"v":2')),
    ],
  ];

  it.each(damages)('%s is written anew before the board goes', async (_, damage) => {
    await using rig = await openRetentionRig();
    const { jobId } = await endedJob(rig);
    await rig.archiveJob(jobId, NEVER);
    const whole = await linesOf(rig, jobId);
    await damage(rig.archivePath(jobId));
    await rig.retentionOf(0).round(NEVER);
    expect(await rig.keysOf(jobId)).toEqual([]);
    expect(await linesOf(rig, jobId)).toEqual(whole);
  });

  it.each(damages)('%s keeps the board in Redis when it can not be written anew', async (_, damage) => {
    await using rig = await openRetentionRig();
    const { jobId } = await endedJob(rig);
    await rig.archiveJob(jobId, NEVER);
    const keys = await rig.keysOf(jobId);
    await damage(rig.archivePath(jobId));
    rig.archives.write = () => Promise.reject(new Error('the disk is full'));
    await rig.retentionOf(0).round(NEVER);
    expect(await rig.keysOf(jobId)).toEqual(keys);
  });

  it.each(damages)('%s is said to be so once it is all there is', async (_, damage) => {
    await using rig = await openRetentionRig();
    const { jobId, ids } = await endedJob(rig);
    await rig.retentionOf(0).removeJob(jobId, NEVER);
    expect((await rig.boards.task(jobId, ids.done ?? '')).status).toBe('completed');
    await damage(rig.archivePath(jobId));
    await expect(rig.boards.page(jobId, { after: 0, limit: 10 })).rejects.toMatchObject({
      code: 'unavailable',
      detail: expect.stringMatching(
        /^the archive of job_\w+ (is damaged \(.*\): put its file back|was written by a newer version)/,
      ),
    });
  });

  it.each(damages.filter(([name]) => name !== 'with another letter'))(
    '%s is seen by a read of the job alone, and keeps nobody from deleting that',
    async (_, damage) => {
      await using app = await openRealApp();
      const { rig, board } = app;
      const { jobId } = await endedJob(rig);
      await board.boards.index.list(jobId, 'default', 1);
      await rig.retentionOf(0).removeJob(jobId, NEVER);
      await damage(rig.archivePath(jobId));
      for (const path of [`/${jobId}`, `/${jobId}/result`])
        expect((await app.send('GET', path)).body).toMatchObject({
          code: 'unavailable',
          detail: expect.stringContaining(jobId),
        });
      expect((await app.send('GET', '')).body).toMatchObject({ jobs: [], unreadable: [{ id: jobId }] });
      const deleted = await app.raw(`/v1/jobs/${jobId}`, { method: 'DELETE', headers: AS_ADMIN });
      expect(deleted.status).toBe(204);
      expect((await app.send('GET', '')).body).toEqual({ jobs: [] });
    },
  );
});
