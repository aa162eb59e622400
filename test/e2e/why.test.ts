import { newSecret } from '@crewboard/contracts';
import { expect, test } from 'vitest';
import { type OutsideJob, openOutsideJob } from './support/outside.ts';

const whyOf = (job: OutsideJob, key: string) => job.stack.client.tasks.why(job.jobId, job.id(key));

async function fail(job: OutsideJob, key: string, reason: string, more: object = {}) {
  const { claimToken, task } = await job.claim(key);
  return job.stack.client.tasks.fail(job.jobId, task.id, { claimToken, reason, retryable: false, ...more });
}

test('names the failed task at the root, through a chain of tasks that wait for each other', async () => {
  const chain = Array.from({ length: 12 }, (_, i) => ({
    key: `t${i}`,
    title: `Task ${i}`,
    ...(i === 0 ? {} : { dependsOn: [`t${i - 1}`] }),
  }));
  await using job = await openOutsideJob([...chain, { key: 'other', title: 'Other' }]);
  await fail(job, 't0', 'the source\nis gone');
  expect(await whyOf(job, 't1')).toEqual({
    text: '#2 "Task 1" can not be reached: #1 "Task 0" failed (model): the source is gone',
    readiness: { state: 'unreachable', because: [job.id('t0')] },
    because: [{ taskId: job.id('t0'), title: 'Task 0', status: 'failed', class: 'model' }],
  });
  expect(await whyOf(job, 't11')).toEqual({
    text: '#12 "Task 11" waits for #11 "Task 10": #1 "Task 0" failed (model): the source is gone',
    readiness: { state: 'waiting', on: [job.id('t10')] },
    because: [
      { taskId: job.id('t0'), title: 'Task 0', status: 'failed', class: 'model' },
      { taskId: job.id('t10'), title: 'Task 10', status: 'pending' },
    ],
  });
  expect((await whyOf(job, 't0')).text).toBe('#1 "Task 0" failed (model): the source is gone');
});

test('finds the lost task behind others that still run', async () => {
  await using job = await openOutsideJob([
    { key: 'lost', title: 'Lost' },
    { key: 'mid', title: 'Mid', dependsOn: ['lost'] },
    { key: 'runs', title: 'Runs' },
    { key: 'end', title: 'End', dependsOn: ['runs', 'mid'] },
  ]);
  await job.claim('runs');
  await fail(job, 'lost', 'no', { class: 'check' });
  expect(await whyOf(job, 'end')).toMatchObject({
    text: '#4 "End" waits for #2 "Mid": #1 "Lost" failed (check): no',
    because: [{ title: 'Lost', class: 'check' }, { title: 'Runs' }, { title: 'Mid' }],
  });
});

test('a task that was cancelled with its lost dependency is no root', async () => {
  await using job = await openOutsideJob([
    { key: 'a', title: 'A' },
    { key: 'b', title: 'B', dependsOn: ['a'], onDependencyLost: 'cancel' },
    { key: 'c', title: 'C', dependsOn: ['b'] },
    { key: 'd', title: 'D' },
  ]);
  await fail(job, 'a', 'no');
  await expect.poll(async () => (await job.task('b')).status).toBe('cancelled');
  expect(await whyOf(job, 'c')).toMatchObject({
    text: '#3 "C" can not be reached because of #2 "B": #1 "A" failed (model): no',
    because: [
      { title: 'A', status: 'failed', class: 'model' },
      { title: 'B', status: 'cancelled' },
    ],
  });
  expect(await whyOf(job, 'b')).toEqual({
    text: '#2 "B" was cancelled because #1 "A" failed (model): no',
    because: [{ taskId: job.id('a'), title: 'A', status: 'failed', class: 'model' }],
  });
});

test('says who holds a task and when it was heard of last', async () => {
  await using job = await openOutsideJob([
    { key: 'a', title: 'A' },
    { key: 'b', title: 'B', dependsOn: ['a'] },
    { key: 'human', title: 'Human', executor: 'human' },
  ]);
  await job.claim('a', 'bob', 3_600_000);
  const held =
    /is held by external "bob" \(attempt 1, last heartbeat \d s ago, its lease ends in 3[56]\d\d s\)$/;
  expect((await whyOf(job, 'a')).text).toMatch(held);
  const behind = await whyOf(job, 'b');
  expect(behind.text).toMatch(/^#2 "B" waits for #1 "A", which is held by external "bob"/);
  expect(behind.because).toEqual([{ taskId: job.id('a'), title: 'A', status: 'in_progress' }]);
  await job.claim('human', { kind: 'human', id: 'ann' });
  expect((await whyOf(job, 'human')).text).toBe(
    '#3 "Human" is held by human "ann" (attempt 1, without a lease)',
  );
});

test('counts the seconds since the last heartbeat by Redis’ clock and the length of the lease', async () => {
  await using job = await openOutsideJob([{ key: 'a', title: 'A' }]);
  const { claimToken } = await job.claim('a', 'bob', 600_000);
  // As if the holder had been silent for 90 s: that much of its lease is gone.
  const lease = job.boards.keys.board(job.jobId, 'lease');
  await job.stack.store.redis.zincrby(lease, -90_000, job.id('a'));
  expect((await whyOf(job, 'a')).text).toMatch(/last heartbeat 9\d s ago, its lease ends in 5[01]\d s/);
  await job.stack.client.tasks.heartbeat(job.jobId, job.id('a'), { claimToken });
  expect((await whyOf(job, 'a')).text).toMatch(/last heartbeat \d s ago/);
});

test('says what a task needs: an answer, a review, its time, somebody to claim it', async () => {
  await using job = await openOutsideJob([
    { key: 'blocked', title: 'Blocked' },
    { key: 'review', title: 'Review', policy: 'approved' },
    { key: 'retried', title: 'Retried' },
    { key: 'external', title: 'External' },
    { key: 'human', title: 'Human', executor: 'human' },
    { key: 'agent', title: 'Agent', executor: 'agent' },
    { key: 'done', title: 'Done' },
    { key: 'gone', title: 'Gone' },
    { key: 'behind', title: 'Behind', dependsOn: ['blocked', 'external'] },
  ]);
  const { tasks } = job.stack.client;
  const held = await job.claim('blocked');
  await tasks.block(job.jobId, job.id('blocked'), {
    claimToken: held.claimToken,
    kind: 'needs_decision',
    reason: 'two ways',
    question: 'left or right?',
  });
  await job.complete('review');
  await job.complete('done', 'all 12 pages');
  await tasks.cancel(job.jobId, job.id('gone'), { version: 1, reason: 'not needed' });
  await fail(job, 'retried', 'too slow', { retryable: true, class: 'timeout' });
  const text = async (key: string) => (await whyOf(job, key)).text;
  expect(await text('blocked')).toBe(
    '#1 "Blocked" is blocked (needs_decision): two ways (question: left or right?)',
  );
  expect(await text('behind')).toBe(
    '#9 "Behind" waits for #1 "Blocked", which is blocked (needs_decision): two ways (question: left or right?) (and 1 more)',
  );
  expect(await text('review')).toBe(
    '#2 "Review" is in review: the lead or a person must approve or reject it',
  );
  expect(await text('retried')).toMatch(
    /^#3 "Retried" is scheduled for \d{4}-\S+Z: attempt 1 failed \(timeout\): too slow$/,
  );
  expect(await text('external')).toBe('#4 "External" is ready and waits for an external holder to claim it');
  expect(await text('human')).toBe('#5 "Human" is ready and waits for a person to claim it');
  expect(await text('agent')).toMatch(
    /^#6 "Agent" is ready, but no worker that can reach its model is running/,
  );
  expect(await text('done')).toBe('#7 "Done" was completed in attempt 1: all 12 pages');
  expect(await text('gone')).toBe('#8 "Gone" was cancelled by admin: not needed');
});

test('says why a job as a whole keeps its tasks: paused, or over', async () => {
  await using job = await openOutsideJob([
    { key: 'a', title: 'A' },
    { key: 'b', title: 'B', dependsOn: ['a'] },
  ]);
  const ann = { kind: 'user' as const, id: 'ann' };
  await job.boards.pauseJob(job.jobId, ann, 'user', 'lunch');
  expect(await whyOf(job, 'a')).toEqual({
    text: '#1 "A" is held: the job is paused (user: lunch)',
    readiness: { state: 'held', cause: 'pause' },
    because: [],
  });
  await job.boards.resumeJob(job.jobId, ann);
  await fail(job, 'a', 'no');
  expect((await whyOf(job, 'b')).text).toBe(
    '#2 "B" can not be reached: #1 "A" failed (model): no; the job has ended (failed)',
  );
});

test('a text of somebody else stays one line and can not move the cursor', async () => {
  await using job = await openOutsideJob([{ key: 'a', title: 'A' }]);
  await fail(job, 'a', `line 1\n\u001b[2Jline 2 ${newSecret().repeat(30)}`);
  const { text } = await whyOf(job, 'a');
  expect(text).not.toContain('\n');
  expect(text).not.toContain('\u001b');
  expect(text).toContain('line 1 ');
  expect(text.length).toBeLessThan(400);
});
