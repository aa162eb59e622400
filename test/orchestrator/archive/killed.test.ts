import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { endedJob } from '../../support/ended-job.ts';
import { startArguments } from '../../support/programs.ts';
import { NEVER, openRetentionRig, type RetentionRig } from '../../support/retention.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Runs a process that takes the job out of Redis and is killed at `place`. */
async function killedAt(place: 'write' | 'removal', rig: RetentionRig, jobId: string): Promise<void> {
  const { url, prefix } = rig.board.store;
  const args = [...startArguments('retention'), url, prefix, rig.folder, jobId, place];
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });
  const [, signal] = await once(child, 'exit');
  expect(signal).toBe('SIGKILL');
}

/** Tasks and events as they are read. */
const readAll = async ({ boards }: RetentionRig, jobId: string) => ({
  job: await boards.job(jobId),
  page: await boards.page(jobId, { after: 0, limit: 100, full: true }),
  events: await boards.events(jobId, '0-0', 1000),
});

describe('kill -9 on the way out of Redis', { timeout: 60_000 }, () => {
  it('between the archive and the removal loses nothing, and the next round goes on', async () => {
    await using rig = await openRetentionRig();
    const { jobId } = await endedJob(rig);
    const before = await readAll(rig, jobId);
    await killedAt('removal', rig, jobId);
    expect(await rig.board.boards.isInRedis(jobId)).toBe(true);
    expect(await rig.archives.stampOf(jobId)).toBe((await rig.board.boards.stampOf(jobId))?.stamp);
    expect(await readAll(rig, jobId)).toEqual(before);
    await rig.retentionOf(0).round(NEVER);
    expect(await rig.keysOf(jobId)).toEqual([]);
    expect(await readAll(rig, jobId)).toEqual(before);
  });

  it('in the middle of a write leaves no archive, and the job is archived once the lock has run out', async () => {
    await using rig = await openRetentionRig();
    const { boards, store } = rig.board;
    const { jobId } = await endedJob(rig);
    await killedAt('write', rig, jobId);
    expect(await rig.archives.job(jobId)).toBeUndefined();
    const left = await readdir(join(rig.folder, 'archive'));
    expect(left).toEqual([expect.stringMatching(/\.tmp$/)]);
    expect(await rig.archiveJob(jobId, NEVER)).toBe(false);

    const lock = boards.keys.global(`archiving:${jobId}`);
    expect(await store.redis.pttl(lock)).toBeGreaterThan(0);
    await store.redis.del(lock);
    expect(await rig.archiveJob(jobId, NEVER)).toBe(true);
    await rig.archives.removeLeftovers(0);
    expect(await readdir(join(rig.folder, 'archive'))).toEqual([`${jobId}.jsonl`]);
  });
});
