import { type Random, randomOf } from './random.ts';

/** Something that goes wrong; times in ms. */
export type Fault =
  | { do: 'kill' | 'terminate'; process: ProcessName; downMs: number }
  | { do: 'stop'; process: ProcessName; forMs: number }
  | { do: 'kill redis'; downMs: number }
  | { do: 'pause redis'; forMs: number }
  | { do: 'flush scripts' }
  | { do: 'cut connections' }
  | { do: 'remove a queue job' }
  | { do: 'obliterate the queue' }
  | { do: 'pause the queue'; forMs: number };

export type ProcessName = 'api' | 'worker 1' | 'worker 2';

/** A task of the job: it may depend only on tasks before it, by their place. */
export interface PlannedTask {
  key: string;
  dependsOn: { task: string; condition: 'completed' | 'settled' }[];
  /** Conversations of this task try as many effects. */
  effects: number;
}

/** All that one seed decides: the job, what goes wrong when, and how often the model fails while it does. */
export interface Schedule {
  seed: number;
  /** The lead plans the tasks; else they are given. */
  withLead: boolean;
  tasks: PlannedTask[];
  maxParallel: number;
  /** Ample, so that it stops nothing, and must never be passed. */
  budgetUsd: number | undefined;
  /** In ms after the submit, in order. */
  faults: { atMs: number; fault: Fault }[];
  /** The share of model calls that go wrong until the last fault is over. */
  modelFaultShare: number;
}

const NAMES: readonly [ProcessName, ...ProcessName[]] = ['api', 'worker 1', 'worker 2'];
const DOWN_MS = 600;

/** How long Redis stands still: rarely ten seconds, which is longer than every lease. */
function redisPauseMs(random: Random): number {
  return random.chance(0.2) ? 10_000 : random.int(300, 2500);
}

function drawFault(random: Random): Fault {
  const process = random.pick(NAMES);
  const downMs = random.int(0, DOWN_MS);
  return random.pick<() => Fault>([
    () => ({ do: 'kill', process, downMs }),
    () => ({ do: 'kill', process, downMs }),
    () => ({ do: 'terminate', process, downMs }),
    () => ({ do: 'stop', process, forMs: random.int(200, 4000) }),
    () => ({ do: 'kill redis', downMs }),
    () => ({ do: 'pause redis', forMs: redisPauseMs(random) }),
    () => ({ do: 'flush scripts' }),
    () => ({ do: 'cut connections' }),
    () => ({ do: 'remove a queue job' }),
    () => ({ do: 'obliterate the queue' }),
    () => ({ do: 'pause the queue', forMs: random.int(200, 2000) }),
  ])();
}

function drawTasks(random: Random): PlannedTask[] {
  const tasks: PlannedTask[] = [];
  const count = random.int(6, 24);
  for (let n = 0; n < count; n++) {
    const dependsOn = tasks
      .filter(() => random.chance(1.2 / (tasks.length + 1)))
      .map(({ key }) => ({
        task: key,
        condition: random.pick<'completed' | 'settled'>(['completed', 'settled']),
      }));
    tasks.push({ key: `k${n}`, dependsOn, effects: random.int(0, 2) });
  }
  return tasks;
}

/** Draws the schedule of `seed`; the same one always. */
export function scheduleOf(seed: number): Schedule {
  const random = randomOf(seed);
  const withLead = random.chance(0.5);
  const tasks = drawTasks(random);
  const faults = Array.from({ length: random.int(2, 6) }, () => ({
    atMs: random.int(0, 2500),
    fault: drawFault(random),
  })).sort((a, b) => a.atMs - b.atMs);
  return {
    seed,
    withLead,
    tasks,
    maxParallel: random.int(2, 8),
    budgetUsd: random.chance(0.5) ? 5 : undefined,
    faults,
    modelFaultShare: random.pick([0, 0.1, 0.3]),
  };
}
