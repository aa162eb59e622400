import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Claim, type NewTask } from '@crewboard/contracts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { folderWith, ownTask, type TestFolder } from '../regression/support.ts';
import { type MessagesRequest, toolUse } from '../support/scripted-messages-api.ts';
import { openStack, type Stack, type WorkerProcess } from '../support/stack.ts';
import { eventsByTask, readRecord } from './support/job-record.ts';

const LEASE_MS = 3000;
const WITHIN = { timeout: 60_000 };

/** Counts its runs, and passes once there is a file `go`. */
const RUN = 'echo run >> runs; until [ -e go ]; do sleep 0.05; done; echo went';
const TASK: NewTask = {
  title: 'Held',
  acceptance: [{ id: 'goes', text: 'it goes', check: { run: RUN } }],
};

/** Every agent submits at once. */
function answer(request: MessagesRequest) {
  const input = { taskId: ownTask(request), summary: 'done' };
  const usage = {
    input_tokens: 1,
    output_tokens: 1,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
  };
  return { content: [toolUse('board_submit', input)], stopReason: 'tool_use', usage };
}

describe('checks whose worker is lost', () => {
  let folder: TestFolder;
  let stack: Stack;
  const workers: WorkerProcess[] = [];

  beforeAll(async () => {
    folder = await folderWith({});
    const variables = {
      CREWBOARD_COMMANDS: 'host',
      CREWBOARD_WORKSPACES: folder.path,
      CREWBOARD_LEASE_MS: String(LEASE_MS),
    };
    stack = await openStack({ variables, answer });
  }, 120_000);
  afterEach(async () => {
    for (const worker of workers.splice(0)) await worker.kill();
    for (const name of ['runs', 'go']) await rm(join(folder.path, name), { force: true });
  });
  afterAll(async () => {
    await stack?.[Symbol.asyncDispose]();
    await folder?.[Symbol.asyncDispose]();
  });

  const runs = async () => {
    const text = await readFile(join(folder.path, 'runs'), 'utf8').catch(() => '');
    return text.split('\n').length - 1;
  };
  const untilRuns = (count: number) => expect.poll(runs, WITHIN).toBe(count);
  const go = () => writeFile(join(folder.path, 'go'), '');

  async function startWorker(): Promise<WorkerProcess> {
    const worker = await stack.startWorker();
    workers.push(worker);
    return worker;
  }

  async function submitJob(task: NewTask) {
    const { id } = await stack.client.jobs.submit({ workspace: { path: folder.path }, tasks: [task] });
    const [added] = (await stack.client.tasks.list(id)).tasks;
    if (added === undefined) throw new Error('the job has no task');
    return { jobId: id, taskId: added.id };
  }

  /** A task of somebody outside, submitted. */
  async function submitOutside() {
    const ids = await submitJob({ ...TASK, executor: 'external' });
    const claimed = await stack.client.tasks.claim(ids.jobId, { taskId: ids.taskId, owner: 'bob' });
    const { claimToken, task } = Claim.parse(claimed);
    await stack.client.tasks.submit(ids.jobId, ids.taskId, {
      claimToken,
      version: task.version,
      summary: 'done',
    });
    return ids;
  }

  async function expectOneVerdict(jobId: string, taskId: string): Promise<void> {
    const record = await readRecord(stack, jobId);
    expect(record.job.status).toBe('succeeded');
    expect(eventsByTask(record, 'task.completed')).toEqual({ [taskId]: 1 });
    expect(eventsByTask(record, 'task.checked')).toEqual({ [taskId]: 1 });
    expect(record.tasks[0]).toMatchObject({
      failures: 0,
      evidence: [{ kind: 'check', acceptanceId: 'goes', passed: true, text: 'went\n' }],
    });
  }

  const redisNow = async () => {
    const [seconds, micros] = await stack.store.redis.time();
    return Number(seconds) * 1000 + Number(micros) / 1000;
  };

  it(
    'of a built-in agent run again in the next attempt, and the model is not asked again',
    WITHIN,
    async () => {
      const first = await startWorker();
      const asked = stack.model.requests.length;
      const { jobId, taskId } = await submitJob(TASK);
      await untilRuns(1);
      await first.kill();
      await startWorker();
      await untilRuns(2);
      await go();
      await stack.untilEnded(jobId);
      await expectOneVerdict(jobId, taskId);
      expect(stack.model.requests.length - asked).toBe(1);
      expect(await stack.boards.attempts(jobId, taskId, 2)).toMatchObject([
        { outcome: 'expired' },
        { outcome: 'completed' },
      ]);
    },
  );

  it('of a submission from outside are taken over by another runner after the lease', WITHIN, async () => {
    const first = await startWorker();
    const { jobId, taskId } = await submitOutside();
    await untilRuns(1);
    const second = await startWorker();
    await first.kill();
    const killedAt = await redisNow();
    await untilRuns(2);
    const review = await stack.boards.reviewOf(jobId, taskId);
    if (review.waitsFor !== 'checks') throw new Error(`no runner: ${JSON.stringify(review)}`);
    expect(review.runner).toContain(`-${second.pid}-`);
    expect(review.sinceMs - killedAt).toBeLessThan(LEASE_MS + LEASE_MS / 4 + 1000);
    await go();
    await stack.untilEnded(jobId);
    await expectOneVerdict(jobId, taskId);
    expect((await stack.boards.task(jobId, taskId)).attempt).toBe(1);
  });

  it(
    'of a runner that was stopped for too long are another one’s, and its late verdict is refused',
    WITHIN,
    async () => {
      const first = await startWorker();
      const { jobId, taskId } = await submitOutside();
      await untilRuns(1);
      const script = "return cmsgpack.unpack(redis.call('HGET', KEYS[1], ARGV[1]))[8]";
      const key = stack.boards.keys.board(jobId, 'hot');
      const token = String(await stack.store.redis.eval(script, 1, key, taskId));
      const { version } = await stack.boards.task(jobId, taskId);
      first.send('SIGSTOP');
      await startWorker();
      await untilRuns(2);
      const late = {
        passed: true,
        reason: '',
        evidence: [],
        delayMs: 0,
        told: { passed: true as const, checks: [] },
      };
      const end = () => stack.boards.endChecks(jobId, taskId, { token, version }, late);
      await expect(end()).rejects.toMatchObject({ code: 'lease_lost' });
      await go();
      await stack.untilEnded(jobId);
      first.send('SIGCONT');
      const ended = await first.logged((entry) => entry.taskId === taskId && entry.msg === 'checks ended');
      expect(ended).toMatchObject({ outcome: 'left to others' });
      await expect(end()).rejects.toMatchObject({ code: 'lease_lost' });
      await expectOneVerdict(jobId, taskId);
    },
  );

  it('of a runner that shuts down are given back at once', WITHIN, async () => {
    const first = await startWorker();
    const { jobId, taskId } = await submitOutside();
    await untilRuns(1);
    const second = await startWorker();
    first.send('SIGTERM');
    expect(await first.ended).toBe(0);
    const endedAt = await redisNow();
    await untilRuns(2);
    const review = await stack.boards.reviewOf(jobId, taskId);
    expect(review).toMatchObject({ waitsFor: 'checks', runner: expect.stringContaining(`-${second.pid}-`) });
    if (review.waitsFor === 'checks') expect(review.sinceMs - endedAt).toBeLessThan(LEASE_MS / 2);
    await go();
    await stack.untilEnded(jobId);
    await expectOneVerdict(jobId, taskId);
  });
});
