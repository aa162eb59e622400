import { existsSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NewTask } from '@crewboard/contracts';
import { Queue } from 'bullmq';
import { describe, expect, it } from 'vitest';
import { type OutsideJob, openOutsideJob } from '../../e2e/support/outside.ts';
import { folderWith } from '../../regression/support.ts';

const TYPED: NewTask = {
  key: 'a',
  title: 'Count words',
  maxAttempts: 2,
  outputSchema: { type: 'object', required: ['words'], properties: { words: { type: 'integer' } } },
};
const FAST = { CREWBOARD_COMMANDS: 'host', CREWBOARD_LEASE_MS: '1000', CREWBOARD_PARK_MS: '200' };

/** A task whose check says that it has begun, and passes once there is a file `go`. */
const HELD: NewTask = {
  key: 'a',
  title: 'Held',
  acceptance: [
    { id: 'goes', text: 'it goes', check: { run: 'touch begun; until [ -e go ]; do sleep 0.05; done' } },
  ],
};

/** Opens a job with a worker that runs checks on the host. */
function openChecked(tasks: readonly NewTask[], folder?: string): Promise<OutsideJob> {
  return openOutsideJob(tasks, {
    worker: true,
    variables: FAST,
    ...(folder === undefined ? {} : { workspaces: [folder], body: { workspace: { path: folder } } }),
  });
}

type Owner = string | { kind: 'human'; id: string };

/** Claims and submits; answers the status that the submission was answered. */
async function submit(job: OutsideJob, fields: object = {}, owner: Owner = 'bob'): Promise<string> {
  const { claimToken, task } = await job.claim('a', owner);
  const body = { claimToken, version: task.version, summary: 'done', ...fields };
  return (await job.stack.client.tasks.submit(job.jobId, task.id, body)).status;
}

const until = (job: OutsideJob, status: string) =>
  expect.poll(async () => (await job.task('a')).status, { timeout: 20_000 }).toBe(status);

const begun = (folder: string) =>
  expect.poll(() => existsSync(join(folder, 'begun')), { timeout: 20_000 }).toBe(true);

const eventsOf = async ({ boards, jobId }: OutsideJob) => {
  const events = await boards.events(jobId, '0-0', 100);
  return events.filter(({ type }) => /^task\.(submitted|checked|completed|failed)$/.test(type));
};

const why = async ({ stack, jobId, id }: OutsideJob) => (await stack.client.tasks.why(jobId, id('a'))).text;

describe('a submission from outside', () => {
  it('is in review until a worker has run its checks, and completed with their evidence', async () => {
    await using job = await openChecked([TYPED]);
    const evidence = [{ kind: 'statement', text: 'I counted twice' }];
    expect(await submit(job, { output: { words: 7 }, evidence })).toBe('in_review');
    await until(job, 'completed');
    expect(await job.task('a')).toMatchObject({
      attempt: 1,
      failures: 0,
      result: { summary: 'done', output: { words: 7 } },
      evidence: [...evidence, { kind: 'check', passed: true }],
    });
    const told = (await eventsOf(job)).map(({ type, status, by, data }) => ({
      type,
      status,
      by: by.id,
      data,
    }));
    expect(told).toEqual([
      { type: 'task.submitted', status: 'in_review', by: 'bob', data: undefined },
      {
        type: 'task.checked',
        status: 'in_review',
        by: 'check',
        data: { passed: true, checks: ['outputSchema'] },
      },
      { type: 'task.completed', status: 'completed', by: 'check', data: undefined },
    ]);
  });

  it('that does not pass is pending again as a failed check, which the next holder is told of, and fails in the end', async () => {
    await using job = await openChecked([TYPED]);
    expect(await submit(job, { output: { words: 'many' } })).toBe('in_review');
    await until(job, 'pending');
    const failed = await job.task('a');
    expect(failed).toMatchObject({ failures: 1, attempt: 1 });
    expect([failed.result, failed.evidence]).toEqual([undefined, undefined]);
    const reason = 'check "outputSchema" failed: output.words: expected integer, got "many" (string)';
    expect((await eventsOf(job)).slice(1).map(({ type, data }) => ({ type, data }))).toEqual([
      {
        type: 'task.checked',
        data: {
          passed: false,
          check: 'outputSchema',
          reason: 'output.words: expected integer, got "many" (string)',
        },
      },
      { type: 'task.failed', data: { class: 'check', reason } },
    ]);
    await expect.poll(async () => (await job.task('a')).readiness?.state, { timeout: 20_000 }).toBe('ready');
    const again = await job.claim('a');
    expect(again.earlierAttempts).toEqual([{ attempt: 1, outcome: 'failed', class: 'check', reason }]);
    const { claimToken, task } = again;
    const body = { claimToken, version: task.version, summary: 'still', output: {} };
    await job.stack.client.tasks.submit(job.jobId, task.id, body);
    await until(job, 'failed');
    expect(await job.task('a')).toMatchObject({
      failures: 2,
      failure: { class: 'check', reason: expect.stringContaining('output.words: expected a value') },
    });
  });

  it('by a person is checked in the same way', async () => {
    await using job = await openChecked([{ ...TYPED, executor: 'human' }]);
    const ann = { kind: 'human', id: 'ann' } as const;
    expect(await submit(job, { output: { words: 1 } }, ann)).toBe('in_review');
    await until(job, 'completed');
    expect((await job.task('a')).evidence).toEqual([{ kind: 'check', passed: true }]);
  });

  it('of policy approved is checked first, and then waits for people', async () => {
    await using job = await openChecked([{ ...TYPED, policy: 'approved' }]);
    await submit(job, { output: { words: 1 } });
    await expect.poll(() => why(job), { timeout: 20_000 }).toContain('must approve or reject');
    const { status, version, evidence } = await job.task('a');
    expect([status, evidence]).toEqual(['in_review', [{ kind: 'check', passed: true }]]);
    await job.stack.client.tasks.approve(job.jobId, job.id('a'), { version });
    await until(job, 'completed');
    expect((await job.task('a')).evidence).toEqual(evidence);
  });

  it('says whose checks run since when, and an edit meanwhile has them run again for what the task is then', async () => {
    await using folder = await folderWith({});
    await using job = await openChecked([HELD], folder.path);
    await submit(job);
    await begun(folder.path);
    expect(await why(job)).toMatch(/its checks are run by \S+, since \d{4}-\d\d-\d\dT/);
    const { version } = await job.task('a');
    const acceptance = [{ id: 'other', text: 'something else', check: { run: 'echo otherwise' } }];
    await job.stack.client.tasks.edit(job.jobId, job.id('a'), { version, acceptance });
    await writeFile(join(folder.path, 'go'), '');
    await until(job, 'completed');
    expect((await job.task('a')).evidence).toEqual([
      { kind: 'check', acceptanceId: 'other', passed: true, text: 'otherwise\n' },
    ]);
  });

  it('whose checks can not be run stays in review and says why, and is checked once they can', async () => {
    await using parent = await folderWith({ 'work/here': '' });
    const folder = join(parent.path, 'work');
    const check = { run: 'test -e here' };
    const task = { ...HELD, acceptance: [{ id: 'here', text: 'it is here', check }] };
    await using job = await openChecked([task], folder);
    const { claimToken, task: claimed } = await job.claim('a');
    await rename(folder, join(parent.path, 'away'));
    const body = { claimToken, version: claimed.version, summary: 'done' };
    await job.stack.client.tasks.submit(job.jobId, claimed.id, body);
    await expect
      .poll(() => why(job), { timeout: 20_000 })
      .toContain('its checks wait for a runner: check "here" could not be run');
    expect(await job.task('a')).toMatchObject({ status: 'in_review', failures: 0 });
    await rename(join(parent.path, 'away'), folder);
    await until(job, 'completed');
    expect(await job.task('a')).toMatchObject({ attempt: 1, failures: 0 });
  });

  it('can be cancelled under its checks', async () => {
    await using folder = await folderWith({});
    await using job = await openChecked([HELD], folder.path);
    await submit(job);
    await begun(folder.path);
    const { version } = await job.task('a');
    await job.stack.client.tasks.cancel(job.jobId, job.id('a'), { version });
    expect((await job.task('a')).status).toBe('cancelled');
    await writeFile(join(folder.path, 'go'), '');
    await expect.poll(async () => (await job.boards.job(job.jobId)).status).toBe('failed');
    expect(await job.boards.examine(job.jobId)).toMatchObject({ findings: [] });
    expect((await job.task('a')).status).toBe('cancelled');
  });

  it('without checks to pass is completed at once, whatever its acceptance says in words', async () => {
    await using job = await openChecked([{ ...TYPED, policy: 'none' }]);
    expect(await submit(job, { output: 'anything' })).toBe('completed');
  });

  it('without a worker says that it waits for one, and fails as infra when its checks lose every runner', async () => {
    await using job = await openOutsideJob([TYPED], { variables: { ...FAST, CREWBOARD_INFRA_STRIKES: '3' } });
    await submit(job, { output: { words: 1 } });
    expect(await why(job)).toContain('its checks wait for a runner: no worker is running');
    const { boards, jobId } = job;
    for (let lost = 1; lost <= 3; lost++) {
      expect(await boards.startChecks(jobId, job.id('a'), `runner-${lost}`, 1)).toBeDefined();
      await expect
        .poll(async () => (await boards.reviewOf(jobId, job.id('a'))).waitsFor, { timeout: 20_000 })
        .not.toBe('checks');
      if (lost < 3)
        expect(await why(job)).toMatch(/wait for a runner: the runner was lost.*; no worker is running/);
    }
    expect(await job.task('a')).toMatchObject({
      status: 'failed',
      failures: 0,
      failure: { class: 'infra', reason: 'the runner of its checks was lost 3 times in a row' },
    });
    expect(await boards.examine(jobId)).toMatchObject({ findings: [] });
  });

  it('whose delivery got lost is found by its state', async () => {
    await using job = await openOutsideJob([TYPED], { variables: FAST });
    await submit(job, { output: { words: 1 } });
    const { redis, prefix } = job.stack.store;
    const jobs = async () => (await redis.keys(`${prefix}:crewboard*:t_*`)).sort();
    await expect.poll(jobs, { timeout: 20_000 }).toHaveLength(1);
    const [lost] = await jobs();
    const queue = new Queue(lost?.includes('.sim.') ? 'crewboard.sim.tasks' : 'crewboard.tasks', {
      connection: redis.duplicate({ maxRetriesPerRequest: null }),
      prefix,
    });
    try {
      await queue.obliterate({ force: true });
      expect(await jobs()).toEqual([]);
      await expect.poll(jobs, { timeout: 20_000 }).toEqual([lost]);
    } finally {
      await queue.close();
    }
  });
});
