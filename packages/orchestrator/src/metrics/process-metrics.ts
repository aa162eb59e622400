import type { Usage } from '@crewboard/contracts';
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import type { Metrics } from './metrics.ts';

/** Names that are told apart; they come from jobs, so the rest of them is `other`. */
const MODELS_MOST = 20;

const MODEL_CALL_SECONDS = [0.1, 0.5, 1, 2, 5, 10, 20, 40, 60, 120, 300];
const ATTEMPT_SECONDS = [0.1, 1, 5, 15, 60, 300, 900, 1800, 3600, 14_400];

/** What a process counts, and where it is kept. Every process has one of its own. */
export interface ProcessMetrics {
  metrics: Metrics;
  registry: Registry;
}

/** Of a name; the rest is cut. */
const NAME_MOST = 100;

/** Returns names as they are while there are few of them. */
function fewNames(most: number): (name: string) => string {
  const known = new Set<string>();
  return (given) => {
    const name = given.slice(0, NAME_MOST).toWellFormed();
    if (known.size < most) known.add(name);
    return known.has(name) ? name : 'other';
  };
}

function openCounters(registry: Registry) {
  const counter = <Label extends string = never>(name: string, help: string, labelNames: Label[] = []) =>
    new Counter({ name: `crewboard_${name}_total`, help, labelNames, registers: [registry] });
  return {
    started: counter('attempts_started', 'Claims of tasks, by the kind of holder.', ['holder']),
    ended: counter('attempts_ended', 'Attempts that are over, by outcome and class of failure.', [
      'holder',
      'outcome',
      'class',
    ]),
    calls: counter('model_calls', 'Requests to models, by outcome.', ['model', 'outcome']),
    tokens: counter('tokens', 'Tokens of booked model calls; cached input is not in "input".', ['kind']),
    spend: counter('spend_usd', 'Booked cost of model calls: by usage, or estimated at the worst case.', [
      'kind',
    ]),
    wasted: counter('wasted_usd', 'Cost of failed work in jobs that have ended; counted at each end.'),
    jobsStarted: counter('jobs_started', 'Jobs that were accepted and started.'),
    jobsEnded: counter('jobs_ended', 'Jobs that came to their end, by status.', ['status']),
    sweeps: counter('sweeps', 'Rounds of the sweeper over one board, by outcome.', ['outcome']),
    expiries: counter('lease_expiries', 'Attempts whose lease had run out.'),
    requeued: counter('tasks_requeued', 'Queued tasks that nobody took, put into the queue again.'),
  };
}

function openHistograms(registry: Registry) {
  const registers = [registry];
  return {
    callSeconds: new Histogram({
      name: 'crewboard_model_call_duration_seconds',
      help: 'How long requests to models took, failed ones too.',
      labelNames: ['model'] as const,
      buckets: MODEL_CALL_SECONDS,
      registers,
    }),
    heldSeconds: new Histogram({
      name: 'crewboard_attempt_duration_seconds',
      help: 'From the claim of a task to the end of the attempt.',
      labelNames: ['holder'] as const,
      buckets: ATTEMPT_SECONDS,
      registers,
    }),
  };
}

function countTokens({ tokens }: ReturnType<typeof openCounters>, usage: Usage): void {
  tokens.inc({ kind: 'input' }, usage.inputTokens);
  tokens.inc({ kind: 'output' }, usage.outputTokens);
  tokens.inc({ kind: 'cache_read' }, usage.cacheReadTokens);
  tokens.inc({ kind: 'cache_write' }, usage.cacheWriteTokens);
}

/** Opens the metrics of this process, those of Node (memory, event loop, garbage) among them. */
export function createProcessMetrics(): ProcessMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const counters = openCounters(registry);
  const { callSeconds, heldSeconds } = openHistograms(registry);
  const knownModel = fewNames(MODELS_MOST);
  const metrics: Metrics = {
    attemptStarted: (holder) => counters.started.inc({ holder }),
    attemptEnded({ outcome, failureClass = '', holder, heldMs }) {
      counters.ended.inc({ holder, outcome, class: failureClass });
      if (heldMs !== undefined) heldSeconds.observe({ holder }, heldMs / 1000);
    },
    modelCalled({ model: name, outcome, tookMs }) {
      const model = knownModel(name);
      counters.calls.inc({ model, outcome });
      callSeconds.observe({ model }, tookMs / 1000);
    },
    callBooked(kind, usd, usage) {
      counters.spend.inc({ kind }, usd);
      if (usage !== undefined) countTokens(counters, usage);
    },
    jobStarted: () => counters.jobsStarted.inc(),
    jobEnded(status, wastedUsd) {
      counters.jobsEnded.inc({ status });
      counters.wasted.inc(wastedUsd);
    },
    boardSwept(expiredLeases) {
      counters.sweeps.inc({ outcome: 'swept' });
      counters.expiries.inc(expiredLeases);
      if (expiredLeases > 0)
        counters.ended.inc({ holder: 'unknown', outcome: 'expired', class: '' }, expiredLeases);
    },
    sweepFailed: () => counters.sweeps.inc({ outcome: 'failed' }),
    taskRequeued: () => counters.requeued.inc(),
  };
  return { metrics, registry };
}
