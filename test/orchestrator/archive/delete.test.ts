import { createClient } from '@crewboard/client';
import { describe, expect, it } from 'vitest';
import { ADMIN_KEY, READ_KEY, WORKER_KEY } from '../../api/open-app.ts';
import { openRealApp, type RealApp } from '../../api/open-real-app.ts';
import { endedJob } from '../../support/ended-job.ts';
import { NEVER } from '../../support/retention.ts';

const clientOf = (app: RealApp, apiKey = ADMIN_KEY) => createClient({ baseUrl: app.url, apiKey });

/** An ended job that is listed, with an archive beside its board. */
async function archived(app: RealApp) {
  const job = await endedJob(app.rig);
  await app.board.boards.index.list(job.jobId, 'default', 1);
  await app.rig.archiveJob(job.jobId, NEVER);
  return job;
}

async function expectGone(app: RealApp, jobId: string): Promise<void> {
  expect(await app.rig.keysOf(jobId)).toEqual([app.board.boards.keys.global(`deleted:${jobId}`)]);
  expect(await app.rig.archives.job(jobId)).toBeUndefined();
  expect(await app.rig.contentsOf(jobId)).toEqual([]);
  const { index } = app.board.boards;
  expect(await index.listed('*', 10)).not.toContain(jobId);
  expect(await index.isEndedListed(jobId)).toBe(false);
  expect(await index.deletions()).toEqual([]);
  await expect(clientOf(app).jobs.get(jobId)).rejects.toMatchObject({ code: 'not_found' });
}

describe('DELETE of a job', () => {
  it('removes board, journals, archive and files of an ended one, and is `not_found` after that', async () => {
    await using app = await openRealApp();
    const { jobId } = await archived(app);
    const other = await archived(app);
    await app.rig.moveJournal(other.jobId, other.ids.done ?? '', NEVER);
    expect(
      await app.raw(`/v1/jobs/${jobId}`, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${ADMIN_KEY}` },
      }),
    ).toMatchObject({ status: 204, text: '' });
    await expectGone(app, jobId);
    await expect(clientOf(app).jobs.delete(jobId)).rejects.toMatchObject({ code: 'not_found' });
    expect((await clientOf(app).jobs.get(other.jobId)).status).toBe('partial');
    expect((await clientOf(app).tasks.transcript(other.jobId, other.ids.done ?? '')).entries).toHaveLength(3);
  });

  it('removes one that has left Redis', async () => {
    await using app = await openRealApp();
    const { jobId } = await archived(app);
    await app.rig.retentionOf(0).round(NEVER);
    await clientOf(app).jobs.delete(jobId);
    await expectGone(app, jobId);
  });

  it('refuses an open one and says to cancel it first', async () => {
    await using app = await openRealApp();
    const { jobId } = await app.board.job([{ title: 'Open' }]);
    const keys = await app.rig.keysOf(jobId);
    const { status, body } = await app.send('DELETE', `/${jobId}`);
    expect(status).toBe(409);
    expect(body).toMatchObject({
      code: 'invalid_transition',
      current: { status: 'running' },
      allowed: ['cancel'],
      next: `POST /v1/jobs/${jobId}/cancel`,
    });
    expect(await app.rig.keysOf(jobId)).toEqual(keys);
    expect(await app.rig.deleteJob(jobId, 'default')).toBe(false);
    expect(await app.rig.keysOf(jobId)).toEqual(keys);
    expect(await app.board.boards.index.deletions()).toEqual([]);
  });

  it('leaves nothing of a journal that is on its way into the store', async () => {
    await using app = await openRealApp();
    const { rig } = app;
    const { jobId, ids } = await endedJob(rig);
    const { put } = rig.artifacts;
    rig.artifacts.put = async (...args) => {
      await rig.deleteJob(jobId, 'default');
      return put(...args);
    };
    const moved = rig.moveJournal(jobId, ids.done ?? '', NEVER);
    await expect(moved).rejects.toMatchObject({ code: 'not_found' });
    await expectGone(app, jobId);
  });

  it('needs a key that may submit', async () => {
    await using app = await openRealApp();
    const { jobId } = await archived(app);
    for (const key of [READ_KEY, WORKER_KEY])
      await expect(clientOf(app, key).jobs.delete(jobId)).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('by two at once is one', async () => {
    await using app = await openRealApp();
    const { jobId } = await archived(app);
    await Promise.all([app.rig.deleteJob(jobId, 'default'), app.rig.deleteJob(jobId, 'default')]);
    await expectGone(app, jobId);
  });

  it.each(['the board', 'the archive', 'the files', 'the lists'])(
    'goes on by a repeat, and by the sweeper, after a death before %s',
    async (place) => {
      for (const goOn of ['repeat', 'sweeper'] as const) {
        await using app = await openRealApp();
        const { rig } = app;
        const { jobId } = await archived(app);
        const { boards } = app.board;
        const dies = () => Promise.reject(new Error('killed'));
        const { removeDeleted } = boards;
        const { unlist } = boards.index;
        const { remove } = rig.archives;
        const { removeJob } = rig.artifacts;
        if (place === 'the board') boards.removeDeleted = dies;
        if (place === 'the archive') rig.archives.remove = dies;
        if (place === 'the files') rig.artifacts.removeJob = dies;
        if (place === 'the lists') boards.index.unlist = dies;
        await expect(rig.deleteJob(jobId, 'default')).rejects.toThrow('killed');
        boards.removeDeleted = removeDeleted;
        boards.index.unlist = unlist;
        rig.archives.remove = remove;
        rig.artifacts.removeJob = removeJob;
        if (goOn === 'repeat') await clientOf(app).jobs.delete(jobId);
        else await rig.retentionOf(86_400_000).round(NEVER);
        await expectGone(app, jobId);
      }
    },
  );

  it('removes the journals of a long board in slices, also after a death between two of them', async () => {
    await using app = await openRealApp();
    const { boards, store } = app.board;
    const tasks = Array.from({ length: 1200 }, (_, i) => ({ title: `Task ${i + 1}` }));
    const { jobId } = await app.board.job(tasks, { limits: { maxParallel: 2 } });
    const page = await boards.page(jobId, { after: 1100, limit: 100 });
    const journal = boards.keys.journal(jobId, page.tasks.at(-1)?.id ?? '');
    await store.redis.rpush(journal, '{}');
    await boards.cancelJob(jobId, 'user:ann', 'no');
    for (let slices = 0; (await boards.job(jobId)).endedAt === 0 && slices < 50; slices++)
      await boards.carryOut(jobId, { kind: 'cancel', taskId: '' });
    expect(await boards.removeDeleted(jobId)).toBe(true);
    expect(await app.rig.keysOf(jobId)).toEqual([]);

    // As after a death in the middle: the board is gone, its order and this journal are not.
    await store.redis.set(boards.keys.board(jobId, 'order'), page.tasks.map(({ id }) => id).join(''));
    await store.redis.rpush(journal, '{}');
    await app.rig.deleteJob(jobId, 'default');
    await expectGone(app, jobId);
  });
});

describe('an Idempotency-Key of a deleted job', () => {
  it('does not make it anew, and says to take a new key', async () => {
    await using app = await openRealApp();
    const body = { tasks: [{ title: 'A', executor: 'external' }] };
    const headers = { 'idempotency-key': 'once' };
    const submit = () => app.send('POST', '', body, headers);
    const { id: jobId } = (await submit()).body;
    if (typeof jobId !== 'string') throw new Error('no job');
    await app.send('POST', `/${jobId}/cancel`, {});
    await app.board.boards.carryOut(jobId, { kind: 'cancel', taskId: '' });
    await clientOf(app).jobs.delete(jobId);
    const { status, body: refused } = await submit();
    expect(status).toBe(409);
    expect(refused).toMatchObject({
      code: 'terminal',
      next: expect.stringContaining('a new Idempotency-Key'),
    });
    expect(await app.rig.keysOf(jobId)).toEqual([app.board.boards.keys.global(`deleted:${jobId}`)]);
  });

  it('answers an archived job as it did at first', async () => {
    await using app = await openRealApp();
    const body = { tasks: [{ title: 'A', executor: 'external' }] };
    const submit = () => app.send('POST', '', body, { 'idempotency-key': 'once' });
    const first = await submit();
    const jobId = String(first.body.id);
    const { boards } = app.board;
    await app.send('POST', `/${jobId}/cancel`, {});
    await boards.carryOut(jobId, { kind: 'cancel', taskId: '' });
    await boards.removeFromOutbox(
      jobId,
      (await boards.readOutbox(jobId, 100)).map(({ id }) => id),
    );
    expect(await app.rig.retentionOf(0).removeJob(jobId, NEVER)).toBe(true);
    expect(await submit()).toEqual(first);
    expect(await boards.isInRedis(jobId)).toBe(false);
  });
});
