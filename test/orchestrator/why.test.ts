import type { NewTask, Task } from '@crewboard/contracts';
import { describe, expect, inject, it } from 'vitest';
import { createWhy } from '../../packages/orchestrator/src/why.ts';
import { drainOutbox } from '../board/random-history.ts';
import { ANN, openBoardFixture } from '../support/board.ts';

const FAILURE = { class: 'model', reason: 'gone', retryable: false, delayMs: 0, infraStrikes: 3 } as const;
/** The embedded server copies what it touches: long chains would keep it from all others for seconds. */
const isEmbedded = inject('redisKind') === 'embedded';
const LONG = isEmbedded ? 300 : 10_000;
const WIDE = isEmbedded ? 200 : 1500;
/** Beyond what the first script looks at, on a server. */
const FAR = WIDE - 100;

/** Task 0, and `count` more of which each depends on the one before it. */
function chain(count: number, more: Partial<NewTask> = {}): NewTask[] {
  return Array.from({ length: count + 1 }, (_, i) => ({
    key: `k${i}`,
    title: `Task ${i}`,
    ...(i === 0 ? {} : { dependsOn: [`k${i - 1}`], ...more }),
  }));
}

async function open(tasks: readonly NewTask[], followedMost?: number) {
  const board = await openBoardFixture();
  const limits = { maxTasks: 20_000, maxParallel: 1 };
  const { jobId, ids } = await board.job(tasks, { limits });
  const served = { withModels: true, withCommands: false, paused: [] };
  const whyOf = createWhy(board.boards, async () => served, followedMost);
  const task = (key: string): Promise<Task> => board.boards.task(jobId, ids[key] ?? '');
  return {
    board,
    jobId,
    task,
    async fail(key: string) {
      const { hold } = await board.claim(jobId, ids[key] ?? '');
      await board.boards.fail(hold, `fail ${key}`, FAILURE);
    },
    why: async (key: string) => whyOf(await board.boards.job(jobId), await task(key)),
    [Symbol.asyncDispose]: () => board[Symbol.asyncDispose](),
  };
}

const named = (why: { because: readonly { title: string }[] }) => why.because.map(({ title }) => title);

describe('why follows', () => {
  it.each([100, 101, 102, 103, ...(isEmbedded ? [] : [2500])])(
    'a chain of %i tasks to the one that failed',
    async (count) => {
      await using at = await open(chain(count));
      await at.fail('k0');
      const why = await at.why(`k${count}`);
      expect(why.text).toBe(
        `#${count + 1} "Task ${count}" waits for #${count} "Task ${count - 1}": #1 "Task 0" failed (model): gone; the job has ended (failed)`,
      );
      expect(named(why)).toEqual(['Task 0', `Task ${count - 1}`]);
    },
  );

  it(`a chain of ${LONG} tasks, also to one that only runs`, {
    timeout: 120_000,
  }, async () => {
    await using at = await open(chain(LONG));
    expect(named(await at.why(`k${LONG}`))).toEqual(['Task 0', `Task ${LONG - 1}`]);
    await at.fail('k0');
    expect((await at.why(`k${LONG}`)).text).toContain('#1 "Task 0" failed (model): gone');
  });

  it('the dependency far down a long list that was lost', { timeout: 60_000 }, async () => {
    const many = Array.from({ length: WIDE }, (_, i) => ({
      key: `d${i}`,
      title: `D${i}`,
      ...(i === FAR && { priority: 0 }),
    }));
    const dependsOn = many.map(({ key }) => key);
    await using at = await open([
      ...many,
      { key: 'mid', title: 'Mid', dependsOn },
      { key: 'end', title: 'End', dependsOn: ['mid'] },
    ]);
    await at.fail(`d${FAR}`);
    await drainOutbox(at.board.boards, at.jobId);
    expect(await at.why('end')).toMatchObject({
      text: `#${WIDE + 2} "End" waits for #${WIDE + 1} "Mid": #${FAR + 1} "D${FAR}" failed (model): gone`,
      because: [{ title: `D${FAR}`, status: 'failed', class: 'model' }, { title: 'Mid' }],
    });
    expect((await at.why('mid')).text).toBe(
      `#${WIDE + 1} "Mid" can not be reached: #${FAR + 1} "D${FAR}" failed (model): gone`,
    );
  });

  it('branches that meet again, each task once', async () => {
    const layers = Array.from({ length: 40 }, (_, layer) =>
      ['x', 'y', 'z'].map((side) => ({
        key: `${side}${layer}`,
        title: `${side}${layer}`,
        ...(side === 'y' && { priority: 0 }),
        ...(layer === 0 ? {} : { dependsOn: ['x', 'y', 'z'].map((above) => `${above}${layer - 1}`) }),
      })),
    );
    await using at = await open(layers.flat());
    const { ends, seen, stoppedAt } = await at.board.boards.walkUp(at.jobId, (await at.task('x39')).id);
    expect(ends.map(({ status }) => status)).toEqual(['pending', 'pending', 'pending']);
    expect({ seen, stoppedAt }).toEqual({ seen: 117, stoppedAt: undefined });
    expect((await at.why('x39')).text).toMatch(/#1 "x0" is ready .* \(and 2 more\)$/);
    await at.fail('y0');
    await drainOutbox(at.board.boards, at.jobId);
    expect((await at.why('x39')).text).toContain('#2 "y0" failed (model): gone');
  });

  it('no more tasks than its bound, and says so where that is reached', async () => {
    await using at = await open(chain(50), 30);
    await at.fail('k0');
    const why = await at.why('k40');
    expect(why.text).toMatch(
      /waits for #40 "Task 39": #11 "Task 10" waits for other tasks; more than the 30 tasks that were followed stand above it, so the cause may be another one/,
    );
    expect(named(why)).toEqual(['Task 10', 'Task 39']);
    expect((await at.why('k30')).text).toContain('#1 "Task 0" failed (model): gone');
    expect((await at.why('k30')).text).not.toContain('followed');
  });
});

describe('why of a cancelled task', () => {
  it('names the dependency that it was lost with, and the root of that', async () => {
    await using at = await open([
      ...chain(3, { onDependencyLost: 'cancel' }),
      { key: 'other', title: 'Other' },
    ]);
    await at.fail('k0');
    await drainOutbox(at.board.boards, at.jobId);
    expect((await at.task('k3')).status).toBe('cancelled');
    expect(await at.why('k1')).toEqual({
      text: '#2 "Task 1" was cancelled because #1 "Task 0" failed (model): gone',
      because: [{ taskId: (await at.task('k0')).id, title: 'Task 0', status: 'failed', class: 'model' }],
    });
    const why = await at.why('k3');
    expect(why.text).toBe(
      '#4 "Task 3" was cancelled because of #3 "Task 2": #1 "Task 0" failed (model): gone',
    );
    expect(named(why)).toEqual(['Task 0', 'Task 2']);
  });

  it('says so where more tasks were lost with each other than were followed', async () => {
    const lost = chain(40, { onDependencyLost: 'cancel' });
    await using at = await open([...lost, { key: 'other', title: 'Other' }], 20);
    await at.fail('k0');
    await drainOutbox(at.board.boards, at.jobId);
    expect((await at.task('k40')).status).toBe('cancelled');
    expect((await at.why('k40')).text).toMatch(
      /^#41 "Task 40" was cancelled because of #40 "Task 39": #21 "Task 20" was cancelled by board: .*; more than the 20 tasks that were followed stand above it, so the cause may be another one$/,
    );
    expect((await at.why('k20')).text).toContain('#1 "Task 0" failed (model): gone');
  });

  it('still names the dependency when that was opened again', async () => {
    await using at = await open([
      ...chain(1, { onDependencyLost: 'cancel' }),
      { key: 'other', title: 'Other' },
    ]);
    await at.fail('k0');
    await drainOutbox(at.board.boards, at.jobId);
    const { id, version } = await at.task('k0');
    await at.board.boards.change(at.jobId, { by: ANN, reopens: [{ taskId: id, version, reason: 'again' }] });
    expect(await at.why('k1')).toMatchObject({
      text: expect.stringMatching(
        /^#2 "Task 1" was cancelled because #1 "Task 0" was lost then; now that one is ready/,
      ),
      because: [{ title: 'Task 0', status: 'pending' }],
    });
  });

  it('names the task whose cancel took it along, however far away, and so does one behind it', async () => {
    const tasks = chain(150);
    const behind = { key: 'behind', title: 'Behind', dependsOn: ['k150', 'other'] };
    await using at = await open([...tasks, { key: 'other', title: 'Other' }, behind]);
    const { id, version } = await at.task('k0');
    const held = await at.task('behind');
    await at.board.boards.change(at.jobId, {
      by: ANN,
      cancels: [{ taskId: id, version, reason: 'not needed', dependents: 'cancel' }],
    });
    await at.board.boards.change(at.jobId, {
      by: ANN,
      edits: [{ taskId: held.id, version: held.version, patch: { dependsOn: ['other'] } }],
    });
    await drainOutbox(at.board.boards, at.jobId);
    await at.board.boards.change(at.jobId, {
      by: ANN,
      edits: [{ taskId: held.id, version: held.version + 1, patch: { dependsOn: ['other', 'k150'] } }],
    });
    const because = [{ taskId: id, title: 'Task 0', status: 'cancelled' }];
    for (const key of ['k1', 'k150']) {
      const why = await at.why(key);
      expect(why.text).toMatch(
        /was cancelled by ann together with #1 "Task 0", which it depends on: not needed$/,
      );
      expect(why.because).toEqual(because);
    }
    expect((await at.why('k0')).text).toBe('#1 "Task 0" was cancelled by ann: not needed');
    expect(await at.why('behind')).toMatchObject({
      text: '#153 "Behind" can not be reached because of #151 "Task 150": #1 "Task 0" was cancelled by ann: not needed',
      because: [{ title: 'Task 0' }, { title: 'Task 150' }],
    });
  });

  it('names nothing for one that somebody cancelled by itself, however long ago', async () => {
    await using at = await open([
      ...chain(1, { onDependencyLost: 'cancel' }),
      { key: 'other', title: 'Other' },
    ]);
    const { id, version } = await at.task('k1');
    await at.board.boards.change(at.jobId, { by: ANN, cancels: [{ taskId: id, version, reason: 'no' }] });
    const key = at.board.boards.keys.board(at.jobId, 'events');
    const { id: noted } = await at.task('k0');
    const pipeline = at.board.store.redis.pipeline();
    for (let i = 0; i < 2500; i++)
      pipeline.xadd(
        key,
        '*',
        't',
        'task.noted',
        'k',
        noted,
        'a',
        '1',
        'b',
        'user:x',
        's',
        'pending',
        'n',
        '1',
        'o',
        '',
        'x',
        '',
      );
    await pipeline.exec();
    await at.fail('k0');
    expect(await at.why('k1')).toEqual({ text: '#2 "Task 1" was cancelled by ann: no', because: [] });
  });
});
