import type { OutboxEntry } from '@crewboard/board';
import { newTaskId } from '@crewboard/contracts';
import { createDrainer } from '@crewboard/orchestrator';
import { describe, expect, it } from 'vitest';
import { createStoreHandOver } from '../../../packages/orchestrator/src/archive/store-hand-over.ts';
import { rememberJobFacts } from '../../../packages/orchestrator/src/job-facts.ts';
import { allQueues, openQueues } from '../../../packages/orchestrator/src/queues.ts';
import { drainOutbox } from '../../board/random-history.ts';
import { ANN } from '../../support/board.ts';
import { openRetentionRig, type RetentionRig } from '../../support/retention.ts';

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/** The drainer of a process whose stores are these. */
async function drainerOf(rig: RetentionRig, stores: Partial<Parameters<typeof createStoreHandOver>[0]> = {}) {
  const { boards, store } = rig.board;
  const connection = store.redis.duplicate({ maxRetriesPerRequest: null });
  const queues = openQueues(connection, store.prefix);
  const { archiveJob, moveJournal } = rig;
  const intoStores = createStoreHandOver({ boards, archiveJob, moveJournal, log: SILENT, ...stores });
  const drainer = createDrainer({
    boards,
    queues,
    factsOf: rememberJobFacts(boards),
    intoStores,
    log: SILENT,
  });
  return {
    drainer,
    intoStores,
    queued: () => queues.anthropic.tasks.getJobCountByTypes('waiting', 'prioritized'),
    async [Symbol.asyncDispose]() {
      await drainer.idle();
      await intoStores.close();
      await Promise.all(allQueues(queues).map((queue) => queue.close()));
      connection.disconnect();
    },
  };
}

const kindsIn = async ({ board }: RetentionRig, jobId: string): Promise<OutboxEntry['kind'][]> =>
  (await board.boards.readOutbox(jobId, 2000)).map(({ kind }) => kind);

describe('what a board hands on into stores', () => {
  it('holds up nothing else, however much of it waits', async () => {
    await using rig = await openRetentionRig();
    const { boards, store } = rig.board;
    const { jobId } = await rig.board.job([{ title: 'First' }]);
    await drainOutbox(boards, jobId);
    const entry = ['v', 1, 'kind', 'journal', 'attempt', 1, 'dispatch', 0, 'rank', 0] as const;
    const writing = store.redis.pipeline();
    for (let i = 0; i < 1200; i++)
      writing.xadd(boards.keys.board(jobId, 'outbox'), '*', ...entry, 'task', newTaskId());
    await writing.exec();
    await boards.add(jobId, { tasks: [{ title: 'Behind them' }], by: ANN });
    let release = () => {};
    const stuck = new Promise<undefined>((resolve) => {
      release = () => resolve(undefined);
    });
    await using process = await drainerOf(rig, { moveJournal: () => stuck });
    await process.drainer.drain(jobId);
    expect(await process.queued()).toBe(1);
    expect(await kindsIn(rig, jobId)).not.toContain('enqueue');
    release();
  });

  it('stays in the outbox until it is done, also over a failure', async () => {
    await using rig = await openRetentionRig();
    const { boards } = rig.board;
    const { jobId, ids } = await rig.board.job([{ key: 'a', title: 'A' }]);
    const { hold, task } = await rig.board.claim(jobId, ids.a ?? '');
    await boards.submit(hold, 's', task.version, { summary: 'done', evidence: [] });
    {
      await using fails = await drainerOf(rig, {
        archiveJob: () => Promise.reject(new Error('the disk is full')),
      });
      await fails.drainer.drain(jobId);
    }
    expect(await kindsIn(rig, jobId)).toEqual(['archive']);
    await using works = await drainerOf(rig);
    await works.drainer.drain(jobId);
    await expect.poll(() => kindsIn(rig, jobId)).toEqual([]);
    expect((await rig.archives.job(jobId))?.job.status).toBe('succeeded');
    expect(await boards.index.isEndedListed(jobId)).toBe(true);
  });
});
