import { JobId, TaskId } from '@crewboard/contracts';
import { type ConnectionOptions, Queue } from 'bullmq';
import { z } from 'zod';
import type { Provider } from './settings.ts';

/** What a queue carries: IDs only. `attempt` is the number of attempts so far: a claim for another one is dropped. */
export const Delivery = z.strictObject({
  v: z.literal(1),
  jobId: JobId,
  taskId: TaskId,
  attempt: z.number().int().nonnegative(),
  /** Of a submitted task: its checks are to be run. */
  work: z.literal('checks').optional(),
});
export type Delivery = z.infer<typeof Delivery>;

export type Role = 'lead' | 'tasks';

/** The queue of a role and provider: a worker consumes only what it can serve. */
export function queueName(provider: Provider, role: Role): string {
  return provider === 'simulated' ? `crewboard.sim.${role}` : `crewboard.${role}`;
}

/** Every queue there is. */
export type Queues = Record<Provider, Record<Role, Queue>>;

/** Opens all queues on `connection`, which the caller owns. */
export function openQueues(connection: ConnectionOptions, prefix: string): Queues {
  const open = (provider: Provider, role: Role) =>
    new Queue(queueName(provider, role), {
      connection,
      prefix,
      // The board is the record; the queue keeps nothing that is done.
      defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
    });
  return {
    anthropic: { lead: open('anthropic', 'lead'), tasks: open('anthropic', 'tasks') },
    simulated: { lead: open('simulated', 'lead'), tasks: open('simulated', 'tasks') },
  };
}

/** All queues as a list, for Bull Board and for closing. */
export function allQueues(queues: Queues): Queue[] {
  return Object.values(queues).flatMap((roles) => Object.values(roles));
}

/** A queue job's ID: one a dispatch, so that repeating a hand-over adds nothing. */
export function queueJobId(taskId: string, dispatch: number): string {
  return `${taskId}-${dispatch}`;
}
