import { CrewboardError } from '@crewboard/contracts';
import type { Config } from '../config.ts';
import { portTaken } from '../failure.ts';
import { fromHere } from './address.ts';
import { CLI_FILE } from './child.ts';
import { createDataFolder } from './create-data-folder.ts';
import { type DataFolder, ensureApiKey, publishServer } from './data-folder.ts';
import { type InstanceRedis, useRedis } from './instance-redis.ts';
import { lockFolder } from './lock.ts';
import { isPortFree } from './ports.ts';
import { identify } from './process-identity.ts';
import type { StopOptions } from './running.ts';
import {
  beginStart,
  type ChildCommand,
  childService,
  portOf,
  type Start,
  type StartOptions,
} from './start.ts';

/** The programs that `up` composes. */
export interface ChildCommands {
  api: ChildCommand;
  worker: ChildCommand;
  simulatedModel: ChildCommand;
}

export const CHILD_COMMANDS: ChildCommands = {
  api: { file: CLI_FILE, args: ['api'] },
  worker: { file: CLI_FILE, args: ['worker'] },
  simulatedModel: { file: CLI_FILE, args: ['simulated-model'] },
};

export interface InstanceOptions {
  config: Config;
  /** The API's port; 0 takes a free one. */
  port: number;
  /** The folders that jobs may work in; absent: as the environment says. */
  workspaces?: string | undefined;
  /** Gets lines for the user: notices, deaths, new starts. */
  report(line: string): void;
  commands?: ChildCommands;
  /** How children that die are started again. */
  backoff?: StartOptions['backoff'];
}

/** A running local Crewboard: Redis, API, one worker, and the simulated model when there is no other. */
export interface Instance {
  /** Where this machine reaches the API. */
  url: string;
  /** The address that the API listens on, as configured. */
  host: string;
  apiKey: string;
  folder: DataFolder;
  redis: InstanceRedis;
  simulated: boolean;
  /** The process IDs of its parts by name, as they are now. */
  pids(): Record<string, number>;
  /** Stops worker, API, model and Redis, in that order; resolves when all are gone. */
  stop(how: StopOptions): Promise<void>;
}

const START_GRACE_MS = 5000;

type Variables = Record<string, string>;

/** Where agents' calls go: the user's provider, or a simulated model in a child of its own. */
async function useModel(
  start: Start,
  command: ChildCommand,
): Promise<{ simulated: boolean; variables: Variables }> {
  const { environment, childVariables: variables } = start.config;
  if (environment.ANTHROPIC_API_KEY !== undefined || environment.ANTHROPIC_BASE_URL !== undefined) {
    return { simulated: false, variables: {} };
  }
  start.report(
    'NOTICE: there is no ANTHROPIC_API_KEY, so a SIMULATED MODEL answers: it needs no key, costs nothing and understands nothing.',
  );
  const service = childService(start, 'simulated-model', (previous) => ({
    ...command,
    args: [...command.args, '--port', String(previous?.url === undefined ? 0 : portOf(previous.url))],
    variables,
  }));
  const { url } = (await start.keep(service)).current();
  if (url === undefined) throw new CrewboardError('unavailable', 'the simulated model told no address');
  return { simulated: true, variables: { CREWBOARD_SIMULATED_MODEL_URL: url } };
}

async function startApi(
  start: Start,
  command: ChildCommand,
  port: number,
  variables: Variables,
): Promise<string> {
  const service = childService(start, 'api', (previous) => ({
    ...command,
    variables: {
      ...variables,
      CREWBOARD_PORT: String(previous?.url === undefined ? port : portOf(previous.url)),
    },
  }));
  const { url } = (await start.keep(service)).current();
  if (url === undefined) throw new CrewboardError('unavailable', 'the API told no address');
  return fromHere(url);
}

async function startParts(start: Start, options: InstanceOptions): Promise<Omit<Instance, 'stop' | 'pids'>> {
  const { folder, config } = start;
  const { commands = CHILD_COMMANDS, port, workspaces } = options;
  const apiKey = config.environment.CREWBOARD_API_KEY ?? (await ensureApiKey(folder));
  const redis = await useRedis(start);
  const model = await useModel(start, commands.simulatedModel);
  const variables: Variables = {
    ...config.childVariables,
    REDIS_URL: redis.url,
    CREWBOARD_DATA_DIR: folder.root,
    CREWBOARD_API_KEY: apiKey,
    ...(workspaces === undefined ? {} : { CREWBOARD_WORKSPACES: workspaces }),
    ...model.variables,
  };
  const url = await startApi(start, commands.api, port, variables);
  await start.keep(childService(start, 'worker', () => ({ ...commands.worker, variables })));
  return { url, host: config.environment.CREWBOARD_HOST, apiKey, folder, redis, simulated: model.simulated };
}

/**
 * Starts everything on the data folder and keeps it running. A failing or aborted start leaves nothing running.
 * Throws `unavailable` when another `up` has the folder, the port is taken or a part does not start.
 */
export async function startInstance(options: InstanceOptions, signal: AbortSignal): Promise<Instance> {
  const { config, report, backoff } = options;
  const folder = await createDataFolder(config.dataDir, report);
  const unlock = await lockFolder(folder);
  const start = beginStart({ config, folder, signal, report, backoff });
  start.onUndo(unlock);
  try {
    const host = config.environment.CREWBOARD_HOST;
    if (options.port !== 0 && !(await isPortFree(options.port, host))) throw portTaken(options.port);
    const parts = await startParts(start, options);
    const retract = await publishServer(folder, {
      url: parts.url,
      process: await identify(),
      ...(parts.redis.kind === 'embedded' ? { embeddedRedisUrl: parts.redis.url } : {}),
    });
    start.onUndo(retract);
    return { ...parts, pids: start.pids, stop: start.undo };
  } catch (error) {
    await start.undo({ graceMs: START_GRACE_MS });
    throw error;
  }
}
