import type { Boards, OutboxEntry } from '@crewboard/board';
import { goesIntoStore, type StoreHandOver } from './archive/store-hand-over.ts';
import { enqueuePerTick } from './enqueue.ts';
import type { FactsOf } from './job-facts.ts';
import type { Log } from './log.ts';
import type { Delivery, Queues } from './queues.ts';

/** Entries that one round reads at most; rounds follow until the outbox is empty. */
const ROUND_MOST = 500;

/** Carries out what boards still have to hand on. */
export interface Drainer {
  /** Starts draining a board's outbox; calls for a board that is being drained make one more round. Never throws. */
  soon(jobId: string): void;
  /** Drains a board now. Throws `unavailable` when Redis can't be reached; what is left stays in the outbox. */
  drain(jobId: string): Promise<void>;
  /** Resolves when everything that was started is over. */
  idle(): Promise<void>;
}

interface DrainDependencies {
  boards: Boards;
  queues: Queues;
  factsOf: FactsOf;
  intoStores: StoreHandOver;
  log: Log;
}

function deliveryOf(
  jobId: string,
  { kind, taskId, attempt }: Pick<OutboxEntry, 'kind' | 'taskId' | 'attempt'>,
): Delivery {
  return { v: 1, jobId, taskId, attempt, ...(kind === 'checks' ? { work: kind } : {}) };
}

/** Makes the drainer of a process. Two processes may drain one board at once: every entry is harmless twice. */
export function createDrainer({ boards, queues, factsOf, intoStores, log }: DrainDependencies): Drainer {
  const enqueue = enqueuePerTick(queues);
  const running = new Map<string, Promise<void>>();
  const again = new Set<string>();

  async function enqueueAll(jobId: string, entries: readonly OutboxEntry[]): Promise<void> {
    if (entries.length === 0) return;
    const { spec, lead } = await factsOf(jobId);
    for (const role of ['lead', 'tasks'] as const) {
      const tasks = entries
        .filter((entry) => (entry.taskId === lead) === (role === 'lead'))
        .map(({ dispatch, rank, ...entry }) => ({ ...deliveryOf(jobId, entry), dispatch, rank }));
      if (tasks.length > 0) await enqueue(spec.provider, role, tasks);
    }
  }

  async function carryOut(jobId: string, entries: readonly OutboxEntry[]): Promise<void> {
    await enqueueAll(
      jobId,
      entries.filter((entry) => entry.kind === 'enqueue' || entry.kind === 'checks'),
    );
    for (const entry of entries) await boards.carryOut(jobId, entry);
    await boards.removeFromOutbox(
      jobId,
      entries.map((entry) => entry.id),
    );
  }

  /** Carries out what stands first, behind what is on its way into a store; answers how many entries that were. */
  async function round(jobId: string): Promise<number> {
    for (let after: string | undefined; ; ) {
      const entries = await boards.readOutbox(jobId, ROUND_MOST, after);
      const now = entries.filter((entry) => !goesIntoStore(entry));
      await carryOut(jobId, now);
      intoStores.start(jobId, entries.filter(goesIntoStore));
      if (now.length > 0 || entries.length < ROUND_MOST) return now.length;
      after = entries.at(-1)?.id;
    }
  }

  async function drain(jobId: string): Promise<void> {
    // Ends: each round removes what it read, and what a slice adds is bounded by the board.
    while ((await round(jobId)) > 0) {}
  }

  function soon(jobId: string): void {
    if (running.has(jobId)) {
      again.add(jobId);
      return;
    }
    const work = drain(jobId)
      .catch((error: unknown) => log.warn({ jobId, err: error }, 'outbox left to the sweeper'))
      .finally(() => {
        running.delete(jobId);
        if (again.delete(jobId)) soon(jobId);
      });
    running.set(jobId, work);
  }

  return {
    soon,
    drain,
    async idle() {
      while (running.size > 0) await Promise.all(running.values());
    },
  };
}

/** The same boards, but every transition drains the outbox that it wrote: whoever writes an entry carries it out. */
export function drainAfter(boards: Boards, drainer: Drainer): Boards {
  const then = <Args extends unknown[], Answer>(
    call: (...args: Args) => Promise<Answer>,
    jobOf: (...args: Args) => string,
  ) => {
    return async (...args: Args): Promise<Answer> => {
      const answer = await call(...args);
      drainer.soon(jobOf(...args));
      return answer;
    };
  };
  const first = (jobId: string) => jobId;
  const ofHold = (hold: { jobId: string }) => hold.jobId;
  return {
    ...boards,
    add: then(boards.add, first),
    change: then(boards.change, first),
    resolve: then(boards.resolve, first),
    resumeJob: then(boards.resumeJob, first),
    startRerun: then(boards.startRerun, first),
    sendMessage: then(boards.sendMessage, first),
    rejectPlan: then(boards.rejectPlan, first),
    endChecks: then(boards.endChecks, first),
    releaseChecks: then(boards.releaseChecks, ofHold),
    flip: then(boards.flip, first),
    editJob: then(boards.editJob, ({ id }) => id),
    claim: then(boards.claim, first),
    cancelJob: then(boards.cancelJob, first),
    submit: then(boards.submit, ofHold),
    fail: then(boards.fail, ofHold),
    block: then(boards.block, ofHold),
    propose: then(boards.propose, ofHold),
    release: then(boards.release, ofHold),
    park: then(boards.park, ofHold),
    waitForNews: then(boards.waitForNews, ofHold),
    finishJob: then(boards.finishJob, ofHold),
    wakeParked: then(boards.wakeParked, first),
    setBudget: then(boards.setBudget, first),
    // One a model call, and only one that trips the budget hands something on.
    async reserveCall(hold, call) {
      const reserved = await boards.reserveCall(hold, call);
      if (reserved.kind === 'exhausted') drainer.soon(hold.jobId);
      return reserved;
    },
  };
}
