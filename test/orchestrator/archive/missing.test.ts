import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openBoards } from '@crewboard/board';
import { createClient } from '@crewboard/client';
import { newJobId } from '@crewboard/contracts';
import { describe, expect, it } from 'vitest';
import { listJob } from '../../../packages/orchestrator/src/list-job.ts';
import { ADMIN_KEY, PROJECT_ADMIN_KEY } from '../../api/open-app.ts';
import { openRealApp, type RealApp } from '../../api/open-real-app.ts';
import { type EndedJob, endedJob } from '../../support/ended-job.ts';
import { NEVER } from '../../support/retention.ts';

const clientOf = (app: RealApp, apiKey = ADMIN_KEY) => createClient({ baseUrl: app.url, apiKey });

/** A listed job that has left Redis. */
async function awayJob({ rig, board }: RealApp, project = 'default'): Promise<EndedJob> {
  const job = await endedJob(rig);
  await board.boards.index.list(job.jobId, project, 1);
  await rig.archiveJob(job.jobId, NEVER);
  expect(await rig.retentionOf(0).removeJob(job.jobId, NEVER)).toBe(true);
  return job;
}

/** How the folder of archives is lost. */
const LOSSES: Record<string, (app: RealApp, jobId: string) => Promise<void>> = {
  'its file': ({ rig }, jobId) => rm(rig.archivePath(jobId)),
  'the data folder': ({ rig }) => rename(rig.folder, `${rig.folder}.away`),
  'the data folder, with an empty one in its place': async ({ rig }) => {
    await rename(rig.folder, `${rig.folder}.away`);
    await mkdir(rig.folder);
  },
  'the data folder, with a file in its place': async ({ rig }) => {
    await rename(rig.folder, `${rig.folder}.away`);
    await writeFile(rig.folder, '');
  },
  'its file, with a folder in its place': async ({ rig }, jobId) => {
    await rm(rig.archivePath(jobId));
    await mkdir(rig.archivePath(jobId));
  },
};

const tidyUp = ({ rig }: RealApp) => rm(`${rig.folder}.away`, { recursive: true, force: true });

describe('an archived job that has lost', () => {
  it.each(Object.keys(LOSSES))('%s is `unavailable` by its name in every read and change', async (loss) => {
    await using app = await openRealApp();
    const { jobId, ids } = await awayJob(app);
    await LOSSES[loss]?.(app, jobId);
    const paths = ['', '/tasks', `/tasks/${ids.done}`, '/events', '/result', '/results.jsonl', '/artifacts'];
    const answers = await Promise.all(paths.map((path) => app.send('GET', `/${jobId}${path}`)));
    answers.push(await app.send('POST', `/${jobId}/pause`, {}));
    for (const { status, body } of answers) {
      expect(status).toBe(503);
      expect(body).toMatchObject({ code: 'unavailable', detail: expect.stringContaining(jobId) });
      expect(body.detail).not.toContain(app.rig.folder);
    }
    await tidyUp(app);
  });

  it.each(Object.keys(LOSSES))('%s is named beside the others in the list of jobs', async (loss) => {
    await using app = await openRealApp();
    const { jobId } = await awayJob(app);
    const other = await app.board.job([{ title: 'Open' }]);
    await app.board.boards.index.list(other.jobId, 'default', 2);
    await LOSSES[loss]?.(app, jobId);
    const { jobs, unreadable } = await clientOf(app).jobs.list();
    expect(jobs.map(({ id }) => id)).toEqual([other.jobId]);
    expect(unreadable).toEqual([{ id: jobId, reason: expect.stringContaining(`archive of ${jobId}`) }]);
    await tidyUp(app);
  });

  it.each(['its file', 'the data folder', 'the data folder, with an empty one in its place'])(
    '%s can be deleted',
    async (loss) => {
      await using app = await openRealApp();
      const { jobId } = await awayJob(app);
      const other = await app.board.job([{ title: 'Open' }]);
      await app.board.boards.index.list(other.jobId, 'default', 2);
      await LOSSES[loss]?.(app, jobId);
      await clientOf(app).jobs.delete(jobId);
      expect((await app.send('GET', `/${jobId}`)).status).toBe(404);
      const { jobs } = await clientOf(app).jobs.list();
      expect(jobs.map(({ id }) => id)).toEqual([other.jobId]);
      const { index } = app.board.boards;
      expect(await index.listed('*', 10)).toEqual([other.jobId]);
      expect(await index.deletions()).toEqual([]);
      await tidyUp(app);
    },
  );

  it('its file is read again once that is put back', async () => {
    await using app = await openRealApp();
    const { jobId } = await awayJob(app);
    const path = app.rig.archivePath(jobId);
    await rename(path, `${path}.away`);
    await expect(clientOf(app).jobs.get(jobId)).rejects.toMatchObject({ code: 'unavailable' });
    await rename(`${path}.away`, path);
    expect((await clientOf(app).jobs.get(jobId)).status).toBe('partial');
  });

  it('its files and conversations is `unavailable` where those are read', async () => {
    await using app = await openRealApp();
    const { jobId, ids } = await awayJob(app);
    await rm(join(app.rig.folder, 'artifacts'), { recursive: true });
    for (const path of ['/artifacts/a.txt', `/tasks/${ids.done}/transcript`]) {
      const { status, body } = await app.send('GET', `/${jobId}${path}`);
      expect({ status, code: body.code }).toEqual({ status: 503, code: 'unavailable' });
      expect(body.detail).toMatch(
        new RegExp(` is missing \\(artifacts/${jobId}/[0-9a-f]{64} in the data folder`),
      );
    }
    expect((await app.send('GET', `/${jobId}`)).status).toBe(200);
  });

  it('its file is `not_found` for callers of other projects', async () => {
    await using app = await openRealApp();
    const foreign = await awayJob(app);
    await rm(app.rig.archivePath(foreign.jobId));
    const client = clientOf(app, PROJECT_ADMIN_KEY);
    for (const call of [client.jobs.get(foreign.jobId), client.jobs.delete(foreign.jobId)])
      await expect(call).rejects.toMatchObject({
        code: 'not_found',
        detail: expect.stringContaining(`no such job ${foreign.jobId}`),
      });
  });
});

describe('what is not in Redis and is no lost archive', () => {
  it('is a job that is being deleted, at any step of that', async () => {
    await using app = await openRealApp();
    const { jobId } = await awayJob(app);
    const { rig, board } = app;
    const answers: number[] = [];
    const look = async () => answers.push((await app.send('GET', `/${jobId}`)).status);
    const { removeJob } = rig.artifacts;
    rig.artifacts.removeJob = async (...args) => {
      await look();
      await removeJob(...args);
      expect((await app.send('GET', '')).body).toEqual({ jobs: [] });
    };
    const { endDeleting } = board.boards.index;
    board.boards.index.endDeleting = async (id) => {
      await look();
      await endDeleting(id);
    };
    await clientOf(app).jobs.delete(jobId);
    await look();
    expect(answers).toEqual([404, 404, 404]);
  });

  it('is a task that is unknown to an open job', async () => {
    await using app = await openRealApp();
    const { jobId } = await app.board.job([{ title: 'Open' }]);
    await app.board.boards.index.list(jobId, 'default', 1);
    const { status, body } = await app.send('GET', `/${jobId}/tasks/t_22222222`);
    expect({ status, code: body.code }).toEqual({ status: 404, code: 'not_found' });
  });

  it('is a job that leaves Redis between two looks', async () => {
    await using app = await openRealApp();
    const { rig, board } = app;
    const { jobId } = await endedJob(rig);
    await board.boards.index.list(jobId, 'default', 1);
    const { isInRedis } = board.boards;
    // The board is there when its task is not found, and gone a moment later.
    board.boards.isInRedis = async (id) => {
      board.boards.isInRedis = isInRedis;
      await rig.retentionOf(0).removeJob(id, NEVER);
      return isInRedis(id);
    };
    await expect(rig.boards.task(jobId, 't_22222222')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('is a job whose deletion ends between two looks', async () => {
    await using app = await openRealApp();
    const { redis, prefix } = app.board.store;
    const { index } = app.board.boards;
    const jobId = newJobId();
    await index.beginDeleting(jobId, 'default');
    const READS = ['get', 'exists', 'hexists'];
    // The deletion ends as soon as the first of the two notes was looked for.
    const seenThrough = new Proxy(redis, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return async (...args: unknown[]) => {
          const answer: unknown = await Reflect.apply(member, target, args);
          if (READS.includes(String(name))) await index.endDeleting(jobId);
          return answer;
        };
      },
    });
    expect(await openBoards(seenThrough, prefix).index.wasDeleted(jobId)).toBe(true);
  });

  it('is not listed when its submit is done only after its deletion', async () => {
    await using app = await openRealApp();
    const { jobId } = await awayJob(app);
    await clientOf(app).jobs.delete(jobId);
    await listJob(app.board.boards, jobId, 'default', 1);
    expect(await app.board.boards.index.listed('*', 10)).toEqual([]);
    expect(await app.board.boards.index.listed('default', 10)).toEqual([]);
  });
});
