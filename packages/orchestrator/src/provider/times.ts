import type { Settings } from '../settings.ts';

/** How long things take between a process and a model that fails, all in ms. */
export interface ProviderTimes {
  /** A call's place among those under way, renewed while it lasts; a killed process loses it. */
  slotLeaseMs: number;
  /** The brake of an overload that names no time. */
  brakeMs: number;
  /** Starts after a brake are spread over this time; above the 1 s promised, for timers are late. */
  spreadMs: number;
  /** The longest brake that a provider can ask for. */
  brakeMostMs: number;
  /** How long a call waits within its lease; what would take longer parks. */
  waitMostMs: number;
  /** Failing calls count together when they are no further apart. */
  windowMs: number;
  /** After a good probe counted failures ask for no other one. */
  vouchMs: number;
  /** Between two probes of a model that is down, doubling from the first to the last. */
  probeMs: number;
  probeMostMs: number;
  /** The same for calls that the provider refuses. */
  refusedMs: number;
  refusedMostMs: number;
  /** How long a probe may take. */
  probeTimeoutMs: number;
  /** When a task that waits for a model comes back by itself, if nobody wakes it. */
  downParkMs: number;
  /** How often a process looks whether there is something to probe, wake or resume. */
  watchMs: number;
}

const PARK_MOST_MS = 600_000;

/** The times that follow from the settings: they shrink together with the park and the retries. */
export function providerTimes(settings: Settings): ProviderTimes {
  const { leaseMs, modelIdleMs, modelRetryMs, parkMs } = settings;
  const probeMs = Math.max(10, parkMs / 12);
  return {
    slotLeaseMs: leaseMs,
    brakeMs: Math.max(1, Math.min(1000, modelRetryMs / 4)),
    spreadMs: 1500,
    brakeMostMs: 86_400_000,
    waitMostMs: 20_000,
    windowMs: 30_000,
    vouchMs: parkMs,
    probeMs,
    probeMostMs: Math.max(probeMs, parkMs),
    refusedMs: parkMs,
    refusedMostMs: Math.max(parkMs, Math.min(parkMs * 10, PARK_MOST_MS)),
    probeTimeoutMs: Math.min(modelIdleMs, 30_000),
    downParkMs: PARK_MOST_MS,
    watchMs: Math.min(1000, Math.max(25, probeMs)),
  };
}
