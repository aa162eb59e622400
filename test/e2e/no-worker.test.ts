import { expect, it } from 'vitest';
import { openStack } from '../support/stack.ts';

/** Looks again and again, for long on a busy machine. */
const poll = <T>(look: () => T) => expect.poll(look, { timeout: 20_000 });

it('a job says that no worker is there for it, until one is', { timeout: 120_000 }, async () => {
  await using stack = await openStack();
  const outside = await stack.client.jobs.submit({ tasks: [{ title: 'By hand', executor: 'human' }] });
  const { id } = await stack.client.jobs.submit({ tasks: [{ title: 'A' }] });
  const reason = async (jobId = id) => (await stack.client.jobs.get(jobId)).statusReason;
  await poll(() => reason()).toBe('provider: no worker');
  // Nothing of this one waits for a worker.
  expect(await reason(outside.id)).toMatch(/^people: /);
  const { jobs } = await stack.client.jobs.list();
  expect(jobs.map(({ statusReason }) => statusReason)).toEqual([
    'provider: no worker',
    expect.stringMatching(/^people: /),
  ]);
  const [task] = (await stack.client.tasks.list(id)).tasks;
  expect((await stack.client.tasks.why(id, task?.id ?? '')).text).toContain('no worker');
  await stack.client.jobs.pause(id, 'lunch');
  expect(await reason()).toBe('user: lunch');

  const held = stack.model.hold(() => true, 1);
  const worker = await stack.startWorker();
  const second = await stack.client.jobs.submit({
    tasks: [{ title: 'B' }, { title: 'C' }],
    limits: { maxParallel: 1 },
  });
  await held.arrived(1);
  expect(await reason(second.id)).toBeUndefined();
  const [, waiting] = (await stack.client.tasks.list(second.id)).tasks;
  expect((await stack.client.tasks.why(second.id, waiting?.id ?? '')).text).toContain(
    'waits for a free place',
  );
  await stack.client.jobs.resume(id);
  expect(await reason()).toBeUndefined();
  expect((await stack.untilEnded(id)).status).toBe('succeeded');

  // One that goes takes its name away; what it leaves says so at once.
  worker.send('SIGTERM');
  expect(await worker.ended).toBe(0);
  held.open();
  expect(await reason(second.id)).toBe('provider: no worker');
  await stack.startWorker();
  expect((await stack.untilEnded(second.id)).status).toBe('succeeded');
});
