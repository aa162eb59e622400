import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { CrewboardError, type JobBody } from '@crewboard/contracts';
import { playFaults } from './faults.ts';
import { brokenInvariants } from './invariants.ts';
import type { Scene } from './model.ts';
import type { Schedule } from './schedule.ts';
import type { ChaosStack } from './stack.ts';

/** How long a job may still take once nothing goes wrong any more. */
const END_WITHIN_MS = 60_000;
/** What was on its way when the job ended is over by then. */
const SETTLED_WITHIN_MS = 15_000;
const LOOK_MS = 100;

export interface Played {
  seed: number;
  status: string;
  ms: number;
  /** How many tasks ended how; failed ones by class. */
  ends: Record<string, number>;
  faults: string[];
}

function jobOf({ tasks, withLead, maxParallel, budgetUsd }: Schedule, workspace: string): JobBody {
  const given = tasks.map(({ key, dependsOn }) => ({ key, title: `Task ${key}`, dependsOn }));
  return {
    ...(withLead ? { goal: 'Play the schedule' } : { tasks: given }),
    workspace: { path: workspace },
    tools: ['run_command'],
    limits: { maxParallel, ...(budgetUsd === undefined ? {} : { budgetUsd }) },
  };
}

/** Waits until `look` answers something; undefined when that takes longer than `withinMs`. */
async function until<T>(withinMs: number, look: () => Promise<T | undefined>): Promise<T | undefined> {
  const end = performance.now() + withinMs;
  while (performance.now() < end) {
    const found = await look().catch((error: unknown) => {
      if (error instanceof CrewboardError && error.retry === 'later') return undefined;
      throw error;
    });
    if (found !== undefined) return found;
    await wait(LOOK_MS);
  }
  return undefined;
}

async function explain({ client }: ChaosStack, jobId: string): Promise<string> {
  const job = await client.jobs.get(jobId);
  const { tasks } = await client.tasks.list(jobId, { limit: 100 });
  const open = tasks.filter(({ status }) => !['completed', 'failed', 'cancelled'].includes(status));
  const whys = await Promise.all(open.slice(0, 5).map(({ id }) => client.tasks.why(jobId, id)));
  return `the job did not end: ${job.status} (${job.statusReason ?? 'no reason'}), ${JSON.stringify(job.counts)}; ${whys.map(({ text }) => text).join('; ')}`;
}

/** What is wrong once all that was on its way at the job's end has come to rest. */
async function settledFaults(stack: ChaosStack, jobId: string): Promise<string[]> {
  let faults: string[] = [];
  await until(SETTLED_WITHIN_MS, async () => {
    faults = await brokenInvariants(stack, jobId);
    return faults.length === 0 || undefined;
  });
  return faults;
}

async function endsOf({ client }: ChaosStack, jobId: string): Promise<Record<string, number>> {
  const ends: Record<string, number> = {};
  for await (const { status, failure } of client.jobs.results(jobId)) {
    const name = failure === undefined ? status : `${status} ${failure.class}: ${failure.reason}`;
    ends[name] = (ends[name] ?? 0) + 1;
  }
  return ends;
}

/** Plays one schedule on a stack that is up, and leaves it up. `scene` is what the model is told meanwhile. */
export async function play(stack: ChaosStack, schedule: Schedule, scene: Scene): Promise<Played> {
  const begun = performance.now();
  await rm(join(stack.workspace, 'effects.log'), { force: true });
  const body = jobOf(schedule, stack.workspace);
  const { id } = await stack.client.jobs.submit(body, { idempotencyKey: `chaos-${schedule.seed}-${begun}` });
  await playFaults(stack, schedule);
  scene.isStormy = false;
  const ended = await until(END_WITHIN_MS, async () => {
    const job = await stack.client.jobs.get(id);
    return job.endedAt === undefined ? undefined : job;
  });
  const faults = ended === undefined ? [await explain(stack, id)] : await settledFaults(stack, id);
  return {
    seed: schedule.seed,
    status: ended?.status ?? 'not ended',
    ms: Math.round(performance.now() - begun),
    ends: await endsOf(stack, id),
    faults,
  };
}
