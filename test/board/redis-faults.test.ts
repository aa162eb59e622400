import { openBoards } from '@crewboard/board';
import { newSecret } from '@crewboard/contracts';
import { Redis } from 'ioredis';
import { describe, expect, inject, it } from 'vitest';
import { boardFixtureOn, openBoardFixture } from '../support/board.ts';
import { hasRedisServer, startRedisCluster, startRedisProcess } from '../support/redis-process.ts';

const refusedWith = (code: string) => expect.objectContaining({ code });
const submitted = { summary: 'done', artifacts: [], evidence: [] };
const here = await hasRedisServer();

describe.runIf(here)('a board on a Redis with troubles', () => {
  it('goes on after SCRIPT FLUSH at any point', async () => {
    await using server = await startRedisProcess();
    const redis = new Redis(server.url);
    const board = boardFixtureOn(redis, '{flushed}');
    const tasks = Array.from({ length: 20 }, (_, i) => ({
      key: `k${i}`,
      title: `T${i}`,
      dependsOn: i > 0 ? [`k${i - 1}`] : [],
    }));
    const { jobId, ids } = await board.job(tasks);
    for (const task of tasks) {
      await redis.script('FLUSH');
      const held = await board.claim(jobId, ids[task.key] ?? '');
      await redis.script('FLUSH');
      await board.boards.submit(held.hold, 's', held.task.version, submitted);
    }
    expect(await board.boards.job(jobId)).toMatchObject({ status: 'succeeded', counts: { completed: 20 } });
    redis.disconnect();
  });

  it('answers unavailable when memory is full, and nothing is half-written', async () => {
    await using server = await startRedisProcess();
    const redis = new Redis(server.url);
    const board = boardFixtureOn(redis, '{full}');
    const { jobId, ids } = await board.job([
      { key: 'a', title: 'A' },
      { key: 'b', title: 'B', dependsOn: ['a'] },
    ]);
    const held = await board.claim(jobId, ids.a ?? '');
    const state = async () => ({
      tasks: (await board.boards.page(jobId, { after: 0, limit: 10 })).tasks,
      job: await board.boards.job(jobId),
      events: (await board.boards.events(jobId, '0-0', 100)).length,
      outbox: await board.boards.readOutbox(jobId, 10),
    });
    const before = await state();
    await redis.config('SET', 'maxmemory', '1');
    const attempts = [
      () => board.boards.submit(held.hold, 's', held.task.version, submitted),
      () => board.boards.release(held.hold, 'r', ''),
      () => board.boards.note(held.hold, 'n', 'note'),
      () =>
        board.boards.add(jobId, { by: { kind: 'user', id: 'a' }, maxAttempts: 3, tasks: [{ title: 'C' }] }),
      () => board.boards.cancelJob(jobId, 'user:a', 'no'),
    ];
    for (const attempt of attempts) await expect(attempt()).rejects.toEqual(refusedWith('unavailable'));
    await redis.config('SET', 'maxmemory', '0');
    expect(await state()).toEqual(before);
    await board.boards.submit(held.hold, 's', held.task.version, submitted);
    redis.disconnect();
  });

  it('keeps live holders their tasks after Redis was away for longer than all leases', async () => {
    await using server = await startRedisProcess(['--appendonly', 'yes', '--appendfsync', 'always']);
    const redis = new Redis(server.url, { maxRetriesPerRequest: null, retryStrategy: () => 20 });
    redis.on('error', () => {});
    const board = boardFixtureOn(redis, '{away}');
    const { jobId, ids } = await board.job([
      { key: 'a', title: 'A' },
      { key: 'b', title: 'B' },
    ]);
    const leaseMs = 300;
    const options = { intervalMs: 10, leaseMs, strikes: 3, staleMs: 60_000, gapMs: leaseMs };
    const sweep = () => board.boards.sweep(jobId, options);
    const alive = await board.claim(jobId, ids.a ?? '', 'alive', leaseMs);
    const dead = await board.claim(jobId, ids.b ?? '', 'dead', leaseMs);
    await sweep();
    await server.kill();
    const diedAt = performance.now();
    await expect.poll(() => performance.now() - diedAt).toBeGreaterThan(leaseMs * 2);
    await server.start();
    await sweep();
    expect((await board.boards.task(jobId, ids.a ?? '')).status).toBe('in_progress');
    await board.boards.heartbeat(alive.hold, 60_000);
    const statusOfDead = async () => {
      await sweep();
      return (await board.boards.task(jobId, ids.b ?? '')).status;
    };
    await expect.poll(statusOfDead).toBe('pending');
    expect((await board.boards.task(jobId, ids.a ?? '')).status).toBe('in_progress');
    await expect(board.boards.heartbeat(dead.hold, 1000)).rejects.toEqual(refusedWith('lease_lost'));
    redis.disconnect();
  });

  it('runs on a cluster of three, boards spread over the nodes', async () => {
    await using nodes = await startRedisCluster();
    const board = boardFixtureOn(nodes.cluster, '{crewboard}');
    const jobs = [];
    for (let i = 0; i < 12; i++) {
      const { jobId, ids } = await board.job(
        [
          { key: 'a', title: 'A' },
          { key: 'b', title: 'B', dependsOn: ['a'] },
        ],
        { lead: false },
      );
      await board.boards.index.addLive(jobId);
      jobs.push(jobId);
      for (const id of [ids.a ?? '', ids.b ?? '']) {
        const held = await board.claim(jobId, id);
        const journal = await board.boards.openJournal(held.hold, { attempt: 1 });
        await journal.append({ kind: 'message', texts: ['hello'] });
        await board.boards.submit(held.hold, newSecret(), held.task.version, submitted);
      }
      expect((await board.boards.job(jobId)).status).toBe('succeeded');
    }
    expect(await board.boards.index.liveJobs()).toHaveLength(12);
    const slots = await Promise.all(jobs.map((jobId) => nodes.cluster.cluster('KEYSLOT', jobId)));
    const thirds = new Set(slots.map((slot) => Math.floor(Number(slot) / 5462)));
    expect(thirds.size).toBe(3);
  });
});

describe('an edge that is added while its target completes', () => {
  it('is never lost, in 150 races', async () => {
    await using board = await openBoardFixture();
    const other = board.store.redis.duplicate();
    const racing = openBoards(other, board.store.prefix);
    // The embedded server takes a few of them; what can go wrong is in the scripts.
    const rounds = inject('redisKind') === 'embedded' ? 20 : 150;
    for (let round = 0; round < rounds; round++) {
      const { jobId, ids } = await board.job([
        { key: 'a', title: 'A' },
        { key: 'b', title: 'B' },
      ]);
      const held = await board.claim(jobId, ids.a ?? '');
      const edits = [{ taskId: ids.b ?? '', version: 1, patch: { dependsOn: ['a'] } }];
      await Promise.all([
        board.boards.submit(held.hold, 's', held.task.version, submitted),
        racing.change(jobId, { by: { kind: 'user', id: 'x' }, maxAttempts: 3, edits }),
      ]);
      const b = await board.boards.task(jobId, ids.b ?? '');
      expect(b.dependsOn).toEqual([{ task: ids.a, condition: 'completed' }]);
      expect(b.readiness).toEqual({ state: 'ready' });
    }
    other.disconnect();
  });
});
