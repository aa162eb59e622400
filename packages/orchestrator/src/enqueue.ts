import type { Delivery, Queues, Role } from './queues.ts';
import { queueJobId } from './queues.ts';
import type { Provider } from './settings.ts';

/** A task to be put into a queue. */
export interface Enqueued extends Delivery {
  dispatch: number;
  /** How many tasks of its job are in flight with it; 0 for a lead. */
  rank: number;
}

/** Puts tasks into the queue of a provider and role; resolves when they are there. */
export type Enqueue = (provider: Provider, role: Role, tasks: readonly Enqueued[]) => Promise<void>;

interface Batch {
  tasks: Enqueued[];
  added: Promise<void>;
}

function toJob(role: Role, { dispatch, rank, ...data }: Enqueued) {
  // Fairness: of several jobs the one with the least in flight comes first. Leads, few and short, go before all.
  const priority = rank > 0 ? { priority: rank } : {};
  return { name: role, data, opts: { jobId: queueJobId(data.taskId, dispatch), ...priority } };
}

/** Collects what is asked for in one turn of the event loop, over all boards, and adds it with one call a queue. */
export function enqueuePerTick(queues: Queues): Enqueue {
  const waiting = new Map<string, Batch>();

  function openBatch(provider: Provider, role: Role): Batch {
    const name = `${provider}/${role}`;
    const tasks: Enqueued[] = [];
    const added = new Promise<void>((resolve) => setImmediate(resolve)).then(async () => {
      waiting.delete(name);
      await queues[provider][role].addBulk(tasks.map((task) => toJob(role, task)));
    });
    const batch = { tasks, added };
    waiting.set(name, batch);
    return batch;
  }

  return (provider, role, tasks) => {
    const batch = waiting.get(`${provider}/${role}`) ?? openBatch(provider, role);
    batch.tasks.push(...tasks);
    return batch.added;
  };
}
