import { SubmitAnswer } from '@crewboard/contracts';
import { describe, expect, it } from 'vitest';
import { boardsOf } from '../support/boards-of.ts';
import { type LocalStack, openLocalStack } from '../support/local-stack.ts';

/** Looks again and again, for long on a busy machine. */
const poll = <T>(look: () => T) => expect.poll(look, { timeout: 20_000 });

const ADD = { tasks: [{ key: 'c', title: 'C', dependsOn: ['a'] }] };
const HELD = {
  hold: true,
  tasks: [
    { key: 'a', title: 'A' },
    { key: 'b', title: 'B' },
  ],
};

const post = (stack: LocalStack, id: string, call: string, body?: object) =>
  stack.call('POST', `/v1/jobs/${id}/${call}`, body);

/** A round of the sweeper that looks at the job as it would in a minute and more. */
async function sweepMuchLater(stack: LocalStack, id: string): Promise<void> {
  const boards = boardsOf(stack);
  const earlier = `local B = cmsgpack.unpack(redis.call('HGET', KEYS[1], '@'))
B[9] = B[9] - 3600000
redis.call('HSET', KEYS[1], '@', cmsgpack.pack(B))`;
  await stack.store.redis.eval(earlier, 1, boards.keys.board(id, 'hot'));
  const swept = () =>
    stack.store.redis.eval(
      `return cmsgpack.unpack(redis.call('HGET', KEYS[1], '@'))[12]`,
      1,
      boards.keys.board(id, 'hot'),
    );
  const before = await swept();
  // Two rounds: the first may have begun before.
  for (let round = 0; round < 2; round++) await poll(swept).not.toBe(before);
}

describe('a job that is held', () => {
  it('waits for its start, takes tasks in several calls, and then runs them all', async () => {
    await using stack = await openLocalStack();
    const submitted = await stack.call('POST', '/v1/jobs', HELD);
    expect(submitted).toMatchObject({ status: 202, json: { status: 'accepting' } });
    const { id } = SubmitAnswer.parse(submitted.json);
    expect((await stack.client.jobs.list()).jobs.map((job) => job.id)).toEqual([id]);
    const added = await post(stack, id, 'tasks', ADD);
    expect(added).toMatchObject({ status: 201, json: { tasks: [{ number: 3 }] } });
    await sweepMuchLater(stack, id);
    expect(await stack.client.jobs.get(id)).toMatchObject({
      status: 'accepting',
      counts: { total: 3, ready: 0, waiting: 0, held: 3, in_progress: 0 },
    });
    expect((await stack.keys()).filter((key) => /:tasks:(wait|prioritized)$/.test(key))).toEqual([]);

    expect(await post(stack, id, 'start')).toMatchObject({ status: 200, json: { status: 'running' } });
    for await (const _ of stack.client.jobs.events(id)) {
      // Followed for its end alone.
    }
    expect(await stack.client.jobs.get(id)).toMatchObject({ status: 'succeeded', counts: { completed: 3 } });
    expect(await post(stack, id, 'start')).toMatchObject({ status: 200, json: { status: 'succeeded' } });
  });

  it('is started once by many starts, and again by none', async () => {
    await using stack = await openLocalStack({ worker: false });
    const { id } = await stack.client.jobs.submit(HELD);
    const starts = await Promise.all(Array.from({ length: 10 }, () => post(stack, id, 'start')));
    expect(new Set(starts.map(({ status }) => status))).toEqual(new Set([200]));
    const { events } = await stack.client.jobs.listEvents(id, { limit: 100 });
    expect(events.filter(({ type }) => type === 'job.submitted')).toHaveLength(1);
  });

  it('refuses claims, pauses and more tasks than it may have before its start', async () => {
    await using stack = await openLocalStack({ worker: false });
    const tasks = [{ title: 'Outside', executor: 'external' as const }];
    const { id } = await stack.client.jobs.submit({ hold: true, tasks, limits: { maxTasks: 2 } });
    expect(await post(stack, id, 'tasks/claim', { owner: 'x' })).toMatchObject({
      status: 409,
      json: {
        code: 'not_ready',
        detail: expect.stringContaining('the job is not started'),
        current: { readiness: { state: 'held' } },
        allowed: [],
        next: `POST /v1/jobs/${id}/start`,
      },
    });
    expect((await stack.client.tasks.list(id, { readiness: 'ready' })).tasks).toEqual([]);
    const [task] = (await stack.client.tasks.list(id, { readiness: 'held' })).tasks;
    expect(task).toMatchObject({ number: 1, readiness: { state: 'held', cause: 'pause' } });
    const why = await stack.call('GET', `/v1/jobs/${id}/tasks/${task?.id}/why`);
    expect(why.json).toMatchObject({
      text: expect.stringContaining(`the job is not started: POST /v1/jobs/${id}/start`),
    });
    for (const call of ['pause', 'resume']) {
      expect(await post(stack, id, call)).toMatchObject({
        status: 409,
        json: { code: 'invalid_transition', next: `POST /v1/jobs/${id}/start` },
      });
    }
    const two = { tasks: [{ title: 'One' }, { title: 'Two' }] };
    expect(await post(stack, id, 'tasks', two)).toMatchObject({
      status: 422,
      json: { code: 'limit_exceeded' },
    });
    expect(await stack.client.jobs.edit(id, { version: 1, limits: { maxTasks: 3 } })).toMatchObject({
      status: 'accepting',
      limits: { maxTasks: 3 },
    });
    expect(await post(stack, id, 'tasks', two)).toMatchObject({ status: 201 });
  });

  it('is answered the same when its submit is repeated, before and after its start', async () => {
    await using stack = await openLocalStack({ worker: false });
    const submit = () => stack.client.jobs.submit(HELD, { idempotencyKey: 'held-1' });
    const first = await submit();
    expect(first.status).toBe('accepting');
    expect(await Promise.all([submit(), submit(), submit()])).toEqual([first, first, first]);
    await stack.client.jobs.start(first.id);
    expect(await submit()).toEqual(first);
    expect((await stack.client.jobs.get(first.id)).counts.total).toBe(2);
  });

  it('can be cancelled, and is not started after that', async () => {
    await using stack = await openLocalStack();
    const { id } = await stack.client.jobs.submit({ ...HELD, goal: 'Lead them.' });
    await stack.client.jobs.cancel(id, 'not needed');
    await poll(async () => (await stack.client.jobs.get(id)).status).toBe('cancelled');
    expect((await stack.client.jobs.get(id)).counts).toMatchObject({ total: 2, cancelled: 2 });
    expect(await post(stack, id, 'start')).toMatchObject({ status: 200, json: { status: 'cancelled' } });
  });

  it('of a goal plans only once it is started', async () => {
    await using stack = await openLocalStack({ worker: false });
    const { id } = await stack.client.jobs.submit({ hold: true, goal: 'Plan.' });
    const leads = async () => (await stack.keys()).filter((key) => key.includes(':crewboard.sim.lead:t_'));
    expect(await leads()).toEqual([]);
    expect((await stack.client.jobs.start(id)).status).toBe('planning');
    await poll(leads).toHaveLength(1);
  });
});
