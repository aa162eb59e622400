import { delimiter, resolve } from 'node:path';
import type { PriceFile } from '@crewboard/agent';
import {
  type CommandsMode,
  CrewboardError,
  type Environment,
  type NewTask,
  secretsOf,
} from '@crewboard/contracts';

/** Where model calls of a job go; fixed at its submission. */
export type Provider = 'anthropic' | 'simulated';

/** How to reach a provider's Messages API. */
export interface ProviderAccess {
  baseUrl: string;
  apiKey: string;
}

/** What the orchestrator is told by its process; every time in ms. */
export interface Settings {
  prefix: string;
  leaseMs: number;
  /** Of claims over HTTP that name none. */
  externalLeaseMs: number;
  infraStrikes: number;
  modelTries: number;
  modelRetryMs: number;
  modelIdleMs: number;
  parkMs: number;
  coalesceMs: number;
  /** Pause before a failed task is tried again, doubling with each failure up to a minute. */
  retryDelayMs: number;
  sweepIntervalMs: number;
  /** A task that waits in the queue for longer has its queue job looked up. */
  staleMs: number;
  /** A Redis connection that owes an answer for longer is taken for dead, and built anew. */
  redisSilenceMs: number;
  concurrency: number;
  models: { lead: string; worker: string };
  /** Absolute folders below which workspaces may stand. */
  workspaceRoots: string[];
  /** The data folder: never shown to agents. */
  dataDir: string;
  /** How this process runs commands, or lets others run them. */
  commands: CommandsMode;
  providers: Partial<Record<Provider, ProviderAccess>>;
  /** Prices that stand before the published ones. */
  prices: PriceFile;
  /** How long an ended job stays in Redis. */
  retentionMs: number;
  /** The process' own keys and passwords: taken out of what its tools and commands answer. */
  secrets: readonly string[];
}

const ANTHROPIC_URL = 'https://api.anthropic.com';
const SWEEP_INTERVAL_MS = 500;
const DAY_MS = 86_400_000;

/**
 * Settings of a process from its parsed environment and price file; relative folders are taken from `cwd`. `commands` is how it runs
 * them: what is possible on the machine was found out before.
 */
export function settingsFrom(
  environment: Environment,
  cwd: string,
  commands: CommandsMode = 'off',
  prices: PriceFile = {},
): Settings {
  const { ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL, CREWBOARD_SIMULATED_MODEL_URL } = environment;
  const providers: Settings['providers'] = {};
  if (ANTHROPIC_API_KEY !== undefined || ANTHROPIC_BASE_URL !== undefined) {
    // A server of one's own often needs no key, but the SDK sends one always.
    providers.anthropic = {
      baseUrl: ANTHROPIC_BASE_URL ?? ANTHROPIC_URL,
      apiKey: ANTHROPIC_API_KEY ?? 'none',
    };
  }
  if (CREWBOARD_SIMULATED_MODEL_URL !== undefined) {
    providers.simulated = { baseUrl: CREWBOARD_SIMULATED_MODEL_URL, apiKey: 'simulated' };
  }
  const roots = environment.CREWBOARD_WORKSPACES?.split(delimiter).filter((path) => path !== '') ?? [cwd];
  const leaseMs = environment.CREWBOARD_LEASE_MS;
  return {
    prefix: environment.CREWBOARD_PREFIX,
    leaseMs,
    externalLeaseMs: environment.CREWBOARD_EXTERNAL_LEASE_MS,
    infraStrikes: environment.CREWBOARD_INFRA_STRIKES,
    modelTries: environment.CREWBOARD_MODEL_TRIES,
    modelRetryMs: environment.CREWBOARD_MODEL_RETRY_MS,
    modelIdleMs: environment.CREWBOARD_MODEL_IDLE_MS,
    parkMs: environment.CREWBOARD_PARK_MS,
    coalesceMs: environment.CREWBOARD_LEAD_COALESCE_MS,
    retryDelayMs: 1000,
    sweepIntervalMs: Math.min(SWEEP_INTERVAL_MS, leaseMs / 8),
    staleMs: Math.max(leaseMs, 2000),
    redisSilenceMs: environment.CREWBOARD_REDIS_SILENCE_MS,
    concurrency: environment.CREWBOARD_CONCURRENCY,
    models: { lead: environment.CREWBOARD_LEAD_MODEL, worker: environment.CREWBOARD_WORKER_MODEL },
    workspaceRoots: roots.map((path) => resolve(cwd, path)),
    dataDir: resolve(cwd, environment.CREWBOARD_DATA_DIR),
    commands,
    providers,
    prices,
    retentionMs: Math.round(environment.CREWBOARD_RETENTION_DAYS * DAY_MS),
    secrets: secretsOf(environment),
  };
}

/** The provider that new jobs are pinned to: a real one before the simulated one; undefined without any. */
export function defaultProvider(settings: Settings): Provider | undefined {
  if (settings.providers.anthropic !== undefined) return 'anthropic';
  return settings.providers.simulated === undefined ? undefined : 'simulated';
}

/** True when one of these tasks is for a built-in agent. */
export function needsModel(tasks: readonly Pick<NewTask, 'executor'>[]): boolean {
  return tasks.some(({ executor = 'agent' }) => executor === 'agent');
}

/** The refusal of work that nobody here could do. */
export function noModel(what: string): CrewboardError {
  return new CrewboardError(
    'unavailable',
    `no model is set up, and ${what} needs one. Nothing was changed. Set ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL, or start with \`crewboard up\`, which offers a simulated model.`,
    // Nothing that the caller sends, or waits for, sets one up.
    { retry: 'never' },
  );
}

/** The providers that this process can serve. */
export function providersOf(settings: Pick<Settings, 'providers'>): Provider[] {
  return (['anthropic', 'simulated'] satisfies Provider[]).filter(
    (name) => settings.providers[name] !== undefined,
  );
}
