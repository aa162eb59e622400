import type { Boards, RedisClient } from '@crewboard/board';
import { DEFAULT_LIMITS, type JobSpec, newJobId, newSecret } from '@crewboard/contracts';
import type { NewModelTask } from './calls.ts';
import { ANN, SHORT_MS, toNewTask } from './rig-bench.ts';
import { FAR, type Settings } from './state.ts';

/** Submits a job with these tasks; returns its ID. */
export async function submitJob(
  boards: Boards,
  settings: Settings,
  tasks: readonly NewModelTask[],
): Promise<string> {
  const spec: JobSpec = {
    v: 1,
    id: newJobId(),
    project: 'default',
    title: 'A job',
    models: { lead: 'claude-opus-5-5', worker: 'claude-sonnet-5-5' },
    limits: {
      ...DEFAULT_LIMITS,
      maxParallel: settings.maxParallel,
      maxTasks: settings.maxTasks,
      maxAttempts: settings.maxAttempts,
      maxLeadRuns: settings.maxLeadRuns,
    },
    allowParallelInProgress: settings.allowParallel,
    tools: [],
    provider: 'anthropic',
    createdBy: 'ann',
  };
  const lead = { title: 'A job', instructions: 'Do it', by: ANN };
  const fill = newSecret();
  await boards.create(spec, {
    coalesceMs: settings.coalesce ? FAR : 0,
    hold: false,
    fill,
    ...(settings.lead ? { lead } : {}),
  });
  const given = tasks.map((task) => toNewTask((number) => String(number), task));
  if (given.length > 0) {
    await boards.stage(spec.id, { tasks: given, by: ANN, maxAttempts: settings.maxAttempts, fill });
  }
  await boards.flip(spec.id, ANN, fill);
  await boards.index.addLive(spec.id);
  return spec.id;
}

const CLOCK_LOOKS_MOST = 1000;

/** Waits until Redis' clock, which counts whole milliseconds, is past every short time given before now. */
export async function passTime(redis: RedisClient): Promise<void> {
  const ms = async () => {
    const [seconds, micros] = await redis.time();
    return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
  };
  const start = await ms();
  for (let looks = 0; looks < CLOCK_LOOKS_MOST; looks++) {
    if ((await ms()) > start + SHORT_MS) return;
  }
  throw new Error("Redis' clock stands still");
}
