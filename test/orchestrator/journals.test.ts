import { createArtifactSweeper } from '@crewboard/orchestrator';
import { describe, expect, it } from 'vitest';
import { ANN } from '../support/board.ts';
import {
  converse,
  message,
  NEVER,
  openRetentionRig,
  type RetentionRig,
  reply,
} from '../support/retention.ts';

const RESULT = { summary: 'done', evidence: [] };
const FAILURE = { class: 'model', reason: 'no', retryable: false, delayMs: 0, infraStrikes: 3 } as const;
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/** A job of two tasks, so that it stays open; the first has talked and been submitted. */
async function submitted(rig: RetentionRig) {
  const { board } = rig;
  const { boards } = board;
  const { jobId, ids } = await board.job([{ key: 'a', title: 'A' }, { title: 'Other' }]);
  const taskId = ids.a ?? '';
  const claimed = await board.claim(jobId, taskId);
  await converse(boards, claimed, { kind: 'start', fresh: true }, message('the task'), reply('an answer'));
  await boards.submit(claimed.hold, 's', claimed.task.version, RESULT);
  const inRedis = async () =>
    (await board.store.redis.lrange(boards.keys.journal(jobId, taskId), 0, -1)).length;
  const texts = async () =>
    (await boards.readJournal(jobId, taskId)).map((entry) =>
      entry.kind === 'message'
        ? entry.texts[0]
        : entry.kind === 'reply'
          ? entry.content[0]?.text
          : entry.kind,
    );
  const reopen = async () => {
    const { version } = await boards.task(jobId, taskId);
    await boards.change(jobId, { by: ANN, reopens: [{ taskId, version, reason: 'again' }] });
  };
  return { boards, board, jobId, taskId, inRedis, texts, reopen };
}

describe('the journal of a task that is over', () => {
  it('is handed on with its end, and lies in the store, to be read as before', async () => {
    await using rig = await openRetentionRig();
    const { boards, jobId, taskId, inRedis } = await submitted(rig);
    const handed = await boards.readOutbox(jobId, 100);
    expect(handed.map((entry) => [entry.kind, entry.taskId])).toContainEqual(['journal', taskId]);
    const before = await boards.readJournal(jobId, taskId);
    const stored = await rig.moveJournal(jobId, taskId, NEVER);
    expect(stored).toMatchObject({ v: 1, entries: 3 });
    expect(await inRedis()).toBe(0);
    expect(await boards.readJournal(jobId, taskId)).toEqual(before);
    expect(await rig.contentsOf(jobId)).toEqual([stored?.sha256]);
  });

  it('is the same when it is moved twice, also by two at once', async () => {
    await using rig = await openRetentionRig();
    const { jobId, taskId, texts } = await submitted(rig);
    const [one, other] = await Promise.all([
      rig.moveJournal(jobId, taskId, NEVER),
      rig.moveJournal(jobId, taskId, NEVER),
    ]);
    const again = await rig.moveJournal(jobId, taskId, NEVER);
    expect([one, other].filter((stored) => stored !== undefined)).toContainEqual(again);
    expect(await texts()).toEqual(['start', 'the task', 'an answer']);
    expect(await rig.contentsOf(jobId)).toHaveLength(1);
  });

  it('is handed on for each way to end, and not for a first attempt that said nothing', async () => {
    await using rig = await openRetentionRig();
    const { board } = rig;
    const { boards } = board;
    const keys = ['failed', 'cancelled', 'silent', 'open'];
    const { jobId, ids } = await board.job(keys.map((key) => ({ key, title: key })));
    const failed = await board.claim(jobId, ids.failed ?? '');
    await converse(boards, failed, { kind: 'start', fresh: true }, reply('hm'));
    await boards.fail(failed.hold, 'f', FAILURE);
    const held = await board.claim(jobId, ids.cancelled ?? '');
    await converse(boards, held, { kind: 'start', fresh: true }, reply('hm'));
    const silent = await board.claim(jobId, ids.silent ?? '');
    await boards.submit(silent.hold, 's', silent.task.version, RESULT);
    const { version } = await boards.task(jobId, ids.cancelled ?? '');
    await boards.change(jobId, {
      by: ANN,
      cancels: [{ taskId: ids.cancelled ?? '', version, reason: 'no' }],
    });
    const handed = (await boards.readOutbox(jobId, 100)).filter(({ kind }) => kind === 'journal');
    expect(handed.map(({ taskId }) => taskId)).toEqual([ids.failed, ids.cancelled]);
  });
});

describe('a reopened task', () => {
  it('goes on with the conversation that lies in the store, and both parts leave together at its next end', async () => {
    await using rig = await openRetentionRig();
    const { boards, board, jobId, taskId, inRedis, texts, reopen } = await submitted(rig);
    const first = await rig.moveJournal(jobId, taskId, NEVER);
    await reopen();
    const second = await board.claim(jobId, taskId);
    const journal = await boards.openJournal(second.hold, { attempt: 2 });
    expect(journal.entries).toHaveLength(3);
    await journal.append({ kind: 'start', fresh: false });
    await journal.append(reply('more'));
    expect(await texts()).toEqual(['start', 'the task', 'an answer', 'start', 'more']);
    expect(await inRedis()).toBe(2);
    await boards.submit(second.hold, 's2', second.task.version, RESULT);
    const whole = await rig.moveJournal(jobId, taskId, NEVER);
    expect(whole).toMatchObject({ entries: 5 });
    expect(await texts()).toEqual(['start', 'the task', 'an answer', 'start', 'more']);

    // What it replaces is nobody's any more.
    const wanted = await boards.wantedContents(jobId, [first?.sha256 ?? '', whole?.sha256 ?? '']);
    expect([...wanted]).toEqual([whole?.sha256]);
    const sweeper = createArtifactSweeper({ boards, artifacts: rig.artifacts, log: SILENT, orphanMs: 0 });
    await sweeper.sweepJob(jobId, NEVER);
    expect(await rig.contentsOf(jobId)).toEqual([whole?.sha256]);
  });

  it('refuses an append by what another attempt has seen', async () => {
    await using rig = await openRetentionRig();
    const { boards, board, jobId, taskId, reopen } = await submitted(rig);
    await rig.moveJournal(jobId, taskId, NEVER);
    await reopen();
    const { hold } = await board.claim(jobId, taskId);
    const one = await boards.openJournal(hold, { attempt: 2 });
    const other = await boards.openJournal(hold, { attempt: 2 });
    await one.append(reply('mine'));
    await expect(other.append(reply('theirs'))).rejects.toMatchObject({
      code: 'lease_lost',
      detail: expect.stringContaining('has 4 entries, not 3'),
    });
  });

  it('keeps its journal in Redis when a late hand-over of its end comes', async () => {
    await using rig = await openRetentionRig();
    const { boards, board, jobId, taskId, inRedis, texts, reopen } = await submitted(rig);
    await reopen();
    expect(await rig.moveJournal(jobId, taskId, NEVER)).toBeUndefined();
    const { hold } = await board.claim(jobId, taskId);
    await (await boards.openJournal(hold, { attempt: 2 })).append(reply('more'));
    expect(await rig.moveJournal(jobId, taskId, NEVER)).toBeUndefined();
    expect(await inRedis()).toBe(4);
    expect(await texts()).toEqual(['start', 'the task', 'an answer', 'more']);
  });

  it('loses nothing to a hand-over that read its journal before, also when it looks alike', async () => {
    await using rig = await openRetentionRig();
    const { boards, board, jobId, taskId, texts, reopen } = await submitted(rig);
    const stale = await boards.journalParts(jobId, taskId);
    const record = { v: 1, sha256: 'a'.repeat(64), bytes: 1, entries: 3 } as const;
    await rig.moveJournal(jobId, taskId, NEVER);
    await reopen();
    const second = await board.claim(jobId, taskId);
    // As many entries as the stale hand-over has seen, but others.
    await converse(boards, second, { kind: 'start', fresh: false }, message('b'), reply('c'));
    await boards.submit(second.hold, 's2', second.task.version, RESULT);
    expect(await boards.leaveJournal(jobId, taskId, stale, record)).toBe(false);
    expect(await texts()).toEqual(['start', 'the task', 'an answer', 'start', 'b', 'c']);
  });

  it('says so when its conversation is in no store, and does not begin anew in its place', async () => {
    await using rig = await openRetentionRig();
    const { boards, board, jobId, taskId, reopen } = await submitted(rig);
    await rig.moveJournal(jobId, taskId, NEVER);
    await rig.artifacts.removeJob(jobId);
    await reopen();
    const { hold } = await board.claim(jobId, taskId);
    await expect(boards.openJournal(hold, { attempt: 2 })).rejects.toMatchObject({
      code: 'not_found',
      detail: expect.stringContaining('CREWBOARD_DATA_DIR'),
    });
  });
});
