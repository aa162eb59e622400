import type { JobState } from '@crewboard/board';
import type { Task } from '@crewboard/contracts';
import { queueName, type Role } from './queues.ts';
import type { Provider } from './settings.ts';
import type { Served } from './worker-registry.ts';

/** The code and words of a job whose tasks no worker takes. */
const NO_WORKER = 'provider: no worker';

const START_ONE = `(${NO_WORKER}); start one with \`crewboard worker\``;

const pausedText = (provider: Provider, role: Role) =>
  `the queue ${queueName(provider, role)} is paused in Bull Board: resume it there`;

/** What a worker must be able to do to take something of the board. */
type Need = 'model' | 'commands' | 'checks';

const NOBODY: Record<Need, string> = {
  model: `no worker that can reach its model is running ${START_ONE}`,
  commands: `no worker that runs commands is running ${START_ONE} (it needs no model for that)`,
  checks: `no worker is running ${START_ONE}`,
};

/** Why nobody takes what is in a queue, as what follows "but"; undefined when it only waits for its turn. */
function standstill(served: Served, provider: Provider, role: Role, need: Need): string | undefined {
  const isTaken = served.withModels || (need !== 'model' && served.withCommands);
  if (!isTaken) return NOBODY[need];
  return served.paused.includes(role) ? pausedText(provider, role) : undefined;
}

/** Why nobody takes a ready task of our own. */
export function taskStandstill(
  served: Served,
  provider: Provider,
  { number, executor }: Pick<Task, 'number' | 'executor'>,
): string | undefined {
  if (number === 0) return standstill(served, provider, 'lead', 'model');
  return standstill(served, provider, 'tasks', executor === 'command' ? 'commands' : 'model');
}

/** Why nobody takes the checks of a submitted task. */
export function checksStandstill(served: Served, provider: Provider): string | undefined {
  return standstill(served, provider, 'tasks', 'checks');
}

/** The same of a job of which something waits for our workers, as its `statusReason`, which begins with a code. */
export function jobStandstill(
  served: Served,
  { spec, lead, counts }: Pick<JobState, 'spec' | 'lead' | 'counts'>,
): string | undefined {
  if (!served.withModels && !served.withCommands) return NO_WORKER;
  const uses: Record<Role, boolean> = { lead: lead !== undefined, tasks: counts.ready > 0 };
  const paused = served.paused.find((role) => uses[role]);
  return paused === undefined ? undefined : `queue: ${pausedText(spec.provider, paused)}`;
}
