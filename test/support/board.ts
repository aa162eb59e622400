import {
  type Boards,
  type Claimed,
  type Hold,
  openBoards,
  type ReadStoredJournal,
  type RedisClient,
} from '@crewboard/board';
import {
  type Actor,
  DEFAULT_LIMITS,
  type JobLimitsInput,
  type JobSpec,
  type NewTask,
  newJobId,
  newSecret,
} from '@crewboard/contracts';
import { openTestRedis, type TestRedis } from './redis.ts';

export const ANN: Actor = { kind: 'user', id: 'ann' };

/** A board store on the test Redis with a prefix of its own, and the moves that most board tests begin with. */
export interface BoardFixture extends AsyncDisposable {
  store: TestRedis;
  boards: Boards;
  /** Makes and flips a job with these tasks and no lead; `lead: true` adds task 0, `hold: true` leaves it to be started. */
  job(
    tasks: readonly NewTask[],
    options?: {
      limits?: JobLimitsInput;
      lead?: boolean;
      allowParallelInProgress?: boolean;
      flip?: boolean;
      hold?: boolean;
    },
  ): Promise<{ jobId: string; ids: Record<string, string> }>;
  /** Claims as a built-in sub-agent. */
  claim(jobId: string, taskId: string, id?: string, leaseMs?: number): Promise<Claimed & { hold: Hold }>;
}

/** The fixture's moves on any Redis connection of the caller's. */
export function boardFixtureOn(
  redis: RedisClient,
  prefix: string,
  readStored?: ReadStoredJournal,
): Pick<BoardFixture, 'boards' | 'job' | 'claim'> {
  const boards = openBoards(redis, prefix, readStored);
  return {
    boards,
    async job(tasks, options = {}) {
      const spec: JobSpec = {
        v: 1,
        id: newJobId(),
        project: 'default',
        title: 'A job',
        models: { lead: 'claude-opus-5-5', worker: 'claude-sonnet-5-5' },
        limits: { ...DEFAULT_LIMITS, ...options.limits },
        allowParallelInProgress: options.allowParallelInProgress ?? true,
        tools: [],
        provider: 'anthropic',
        createdBy: 'ann',
      };
      const lead = options.lead ? { title: 'A job', instructions: 'Do it', by: ANN } : undefined;
      const fill = newSecret();
      await boards.create(spec, {
        coalesceMs: 0,
        hold: options.hold ?? false,
        fill,
        ...(lead === undefined ? {} : { lead }),
      });
      if (tasks.length > 0)
        await boards.stage(spec.id, { tasks, by: ANN, maxAttempts: spec.limits.maxAttempts, fill });
      if (options.flip !== false) await boards.flip(spec.id, ANN, fill);
      const ids: Record<string, string> = {};
      for (let after: number | undefined = 0; after !== undefined; ) {
        const page = await boards.page(spec.id, { after, limit: 1000 });
        for (const task of page.tasks) ids[task.key ?? task.title] = task.id;
        after = page.nextAfter;
      }
      return { jobId: spec.id, ids };
    },
    async claim(jobId, taskId, id = 'worker-1', leaseMs = 30_000) {
      const kind = (await boards.job(jobId)).lead === taskId ? 'lead' : 'sub-agent';
      const claimed = await boards.claim(jobId, {
        taskId,
        owner: { kind, id },
        secret: newSecret(),
        requestId: newSecret(),
        leaseMs,
      });
      if (claimed === undefined) throw new Error('nothing was claimed');
      return { ...claimed, hold: { jobId, taskId, token: claimed.token } };
    },
  };
}

/** `readStored`: where its journals lie that have left Redis. */
export async function openBoardFixture(readStored?: ReadStoredJournal): Promise<BoardFixture> {
  const store = openTestRedis();
  return {
    store,
    ...boardFixtureOn(store.redis, store.prefix, readStored),
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
    },
  };
}
