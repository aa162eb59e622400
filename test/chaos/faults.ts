import { setTimeout as wait } from 'node:timers/promises';
import type { Fault, Schedule } from './schedule.ts';
import type { ChaosStack } from './stack.ts';

/** A process has this long to end by itself after SIGTERM. */
const GRACE_MS = 20_000;

async function restart(
  stack: ChaosStack,
  { process, downMs, ...fault }: Extract<Fault, { downMs: number; process: unknown }>,
) {
  const victim = stack.process(process);
  if (fault.do === 'kill') await victim.kill();
  else {
    victim.send('SIGTERM');
    const late = wait(GRACE_MS, 'late' as const, { ref: false });
    if ((await Promise.race([victim.ended, late])) === 'late') {
      throw new Error(`${process} did not end within ${GRACE_MS} ms of SIGTERM`);
    }
  }
  await wait(downMs);
  await stack.restart(process);
}

/** Takes one job out of the queues, as a person does in Bull Board; one that is running can't be. */
async function removeQueueJob({ queues }: ChaosStack): Promise<void> {
  for (const queue of queues) {
    const [job] = await queue.getJobs(['waiting', 'prioritized', 'delayed'], 0, 0);
    if (job === undefined) continue;
    await job.remove().catch(() => {});
    return;
  }
}

async function carryOut(stack: ChaosStack, fault: Fault): Promise<void> {
  const { connection, queues, redis } = stack;
  switch (fault.do) {
    case 'kill':
    case 'terminate':
      return restart(stack, fault);
    case 'stop': {
      const victim = stack.process(fault.process);
      victim.send('SIGSTOP');
      await wait(fault.forMs);
      return victim.send('SIGCONT');
    }
    case 'kill redis':
      await redis.kill();
      await wait(fault.downMs);
      return redis.start();
    case 'pause redis':
      return void (await connection.client('PAUSE', fault.forMs));
    case 'flush scripts':
      return void (await connection.script('FLUSH'));
    case 'cut connections':
      return void (await connection.call('CLIENT', 'KILL', 'TYPE', 'normal'));
    case 'remove a queue job':
      return removeQueueJob(stack);
    case 'obliterate the queue':
      for (const queue of queues) await queue.obliterate({ force: true });
      return;
    case 'pause the queue':
      for (const queue of queues) await queue.pause();
      await wait(fault.forMs);
      for (const queue of queues) await queue.resume();
  }
}

const targetOf = (fault: Fault): string => {
  if ('process' in fault) return fault.process;
  return fault.do.includes('redis') ? 'redis' : fault.do;
};

/** Plays the faults of a schedule at their times; those on one thing one after the other. Resolves when all is up. */
export async function playFaults(stack: ChaosStack, { faults }: Schedule): Promise<void> {
  const begun = performance.now();
  const last = new Map<string, Promise<void>>();
  for (const { atMs, fault } of faults) {
    await wait(Math.max(0, begun + atMs - performance.now()));
    const target = targetOf(fault);
    last.set(
      target,
      (last.get(target) ?? Promise.resolve()).then(() => carryOut(stack, fault)),
    );
  }
  await Promise.all(last.values());
}
