import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allText, type MessagesRequest } from '../support/scripted-messages-api.ts';
import { openStack, type Stack, type WorkerProcess } from '../support/stack.ts';
import { eventsByTask, messagesOf, readRecord } from './support/job-record.ts';

/** Long enough that a stopped process is seen to miss heartbeats well before its lease is over. */
const LEASE_MS = 3000;

const callOf = (title: string) => (request: MessagesRequest) => allText(request).includes(`"${title}"`);
const ownedBy = (worker: WorkerProcess) => ({ owner: { id: expect.stringContaining(`-${worker.pid}-`) } });

/** The claim token of an attempt, as the worker that made it holds it. */
async function tokenOf({ boards, store }: Stack, jobId: string, taskId: string, attempt: number) {
  const script = "return cmsgpack.unpack(redis.call('HGET', KEYS[1], ARGV[1]))[1]";
  const key = boards.keys.board(jobId, 'attempts');
  return String(await store.redis.eval(script, 1, key, `${taskId}:${attempt}`));
}

/** Submits one task and stops nothing: resolves when `worker` waits for the model's reply. */
async function startTask(stack: Stack, title: string) {
  const held = stack.model.hold(callOf(title), 1);
  const { id } = await stack.client.jobs.submit({ tasks: [{ title }] });
  await held.arrived(1);
  const [task] = (await stack.client.tasks.list(id)).tasks;
  if (task === undefined) throw new Error('the job has no task');
  return { jobId: id, taskId: task.id, held };
}

describe('a worker that is stopped while its model call runs', () => {
  let stack: Stack;
  let first: WorkerProcess;

  beforeAll(async () => {
    stack = await openStack({ variables: { CREWBOARD_LEASE_MS: String(LEASE_MS) } });
    first = await stack.startWorker();
  }, 120_000);
  afterAll(() => stack?.[Symbol.asyncDispose]());

  it('loses nothing when it goes on before its lease is over', { timeout: 60_000 }, async () => {
    const { jobId, taskId, held } = await startTask(stack, 'Stopped for a moment');
    const leftMs = async () => {
      const { leaseUntil } = await stack.client.tasks.get(jobId, taskId);
      return Date.parse(leaseUntil ?? '') - Date.now();
    };
    first.send('SIGSTOP');
    // A worker that runs never lets it come below three quarters of the lease.
    await expect.poll(leftMs, { timeout: LEASE_MS, interval: 20 }).toBeLessThan(LEASE_MS * 0.55);
    held.open();
    first.send('SIGCONT');
    expect((await stack.untilEnded(jobId)).status).toBe('succeeded');
    const record = await readRecord(stack, jobId);
    expect(record.tasks[0]).toMatchObject({ status: 'completed', attempt: 1, failures: 0 });
    expect(record.events.map(({ type }) => type)).not.toContain('task.expired');
    await first.logged((entry) => entry.taskId === taskId && entry.outcome === 'done');
  });

  it('has its task taken over, writes nothing more to it, and serves on', { timeout: 90_000 }, async () => {
    const { jobId, taskId, held } = await startTask(stack, 'Stopped for too long');
    const token = await tokenOf(stack, jobId, taskId, 1);
    first.send('SIGSTOP');
    const second = await stack.startWorker();
    await stack.untilEvent(jobId, ({ type }) => type === 'task.expired');
    const claimed = await stack.untilEvent(
      jobId,
      ({ type, attempt }) => type === 'task.claimed' && attempt === 2,
    );
    expect(claimed).toMatchObject(ownedBy(second));
    expect((await stack.untilEnded(jobId)).status).toBe('succeeded');
    const before = await readRecord(stack, jobId);

    // The reply that it waited for lies in its socket when it wakes up.
    held.open();
    first.send('SIGCONT');
    const lost = await first.logged((entry) => entry.taskId === taskId && entry.msg === 'attempt ended');
    expect(lost).toMatchObject({ attempt: 1, outcome: 'lost' });
    const hold = { jobId, taskId, token };
    const journal = await stack.boards.openJournal(hold, { attempt: 1 });
    await expect(journal.append({ kind: 'message', texts: ['too late'] })).rejects.toMatchObject({
      code: 'lease_lost',
    });
    const late = { summary: 'too late', artifacts: [], evidence: [] };
    await expect(stack.boards.submit(hold, 'late', 2, late)).rejects.toMatchObject({ code: 'lease_lost' });

    const after = await readRecord(stack, jobId);
    expect(after).toEqual(before);
    expect(eventsByTask(after, 'task.completed')).toEqual({ [taskId]: 1 });
    expect(await stack.boards.attempts(jobId, taskId, 2)).toMatchObject([
      { attempt: 1, outcome: 'expired', ...ownedBy(first) },
      { attempt: 2, outcome: 'completed', ...ownedBy(second) },
    ]);
    // The same conversation, asked for once by each: the first one's reply was never journalled.
    const asked = stack.model.requests.filter(({ body }) => callOf('Stopped for too long')(body));
    const byFirst = asked.filter(({ headers }) => headers.authorization === first.authorization);
    expect(byFirst).toHaveLength(1);
    expect(asked.map(messagesOf).filter((messages) => messages === byFirst.map(messagesOf)[0])).toHaveLength(
      2,
    );

    await second.kill();
    const { id } = await stack.client.jobs.submit({ tasks: [{ title: 'One' }, { title: 'Two' }] });
    expect((await stack.untilEnded(id)).status).toBe('succeeded');
    for (const task of (await readRecord(stack, id)).tasks) {
      expect(await stack.boards.attempts(id, task.id, task.attempt)).toMatchObject([
        { attempt: 1, outcome: 'completed', ...ownedBy(first) },
      ]);
    }
  });
});
