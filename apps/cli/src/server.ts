import { type Client, createClient } from '@crewboard/client';
import { CrewboardError } from '@crewboard/contracts';
import { type Command, Option } from 'commander';
import { keyArgument, urlArgument } from './commands/arguments.ts';
import type { Config, Source } from './config.ts';
import { dataFolder, readApiKey, runningServer } from './local/data-folder.ts';

/** The flags of every command that talks to a server. */
export interface ServerFlags {
  url?: string;
  key?: string;
}

/** Adds --url and --key. */
export function withServerFlags(command: Command): Command {
  return command
    .addOption(
      new Option('--url <url>', 'the server (default: CREWBOARD_URL, else the local one of `up`)').argParser(
        urlArgument,
      ),
    )
    .option(
      '--key <key>',
      'the API key (default: CREWBOARD_API_KEY, else the one in the data folder)',
      keyArgument,
    );
}

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);

interface Server {
  url: string;
  key: string;
}

/** A server and its key, as far as they are known, and where each comes from. */
export interface FoundServer {
  url: { value: string; source: Source };
  key: { value: string; source: Source } | undefined;
  /** True for the data folder's own server and for this machine: they may be sent the folder's key. */
  isOwn: boolean;
}

const found = (value: string | undefined, source: Source) =>
  value === undefined ? undefined : { value, source };

/**
 * Finds the server and its key: flags, then the environment, then the data folder. The folder's key is sent only
 * to the folder's own server or to this machine, never to a host that a flag or a variable names.
 */
export async function findServer(config: Config, flags: ServerFlags): Promise<FoundServer> {
  const { environment, sourceOf } = config;
  const folder = dataFolder(config.dataDir);
  const named = found(flags.url, 'flag') ?? found(environment.CREWBOARD_URL, sourceOf('CREWBOARD_URL'));
  const url = named ??
    found((await runningServer(folder))?.url, 'data folder') ?? {
      value: `http://127.0.0.1:${environment.CREWBOARD_PORT}`,
      source: sourceOf('CREWBOARD_PORT'),
    };
  const isOwn = named === undefined || LOOPBACK.has(new URL(named.value).hostname);
  const key =
    found(flags.key, 'flag') ??
    found(environment.CREWBOARD_API_KEY, sourceOf('CREWBOARD_API_KEY')) ??
    (isOwn ? found(await readApiKey(folder), 'data folder') : undefined);
  return { url, key, isOwn };
}

/** The server to talk to. Throws `unauthorized` when there is no key for it. */
async function chooseServer(config: Config, flags: ServerFlags): Promise<Server> {
  const { url, key, isOwn } = await findServer(config, flags);
  if (key !== undefined) return { url: url.value, key: key.value };
  const fix = isOwn
    ? `start the server with \`crewboard up\`, run this where its data folder is (looked in ${config.dataDir}), or pass --key`
    : 'pass --key or set CREWBOARD_API_KEY';
  throw new CrewboardError('unauthorized', `there is no API key for ${url.value}: ${fix}`);
}

/** True for an error of the way to the server, as opposed to one that the server answered. */
function isOutOfReach(error: unknown): error is CrewboardError {
  return error instanceof CrewboardError && error.code === 'unavailable' && error.cause !== undefined;
}

/** Returns `error` in words that tell a person at the command line what to do: the API's are for programs. */
function explainFor(url: string, error: unknown): unknown {
  if (error instanceof CrewboardError && error.code === 'unauthorized') {
    const fix = 'pass --key or set CREWBOARD_API_KEY';
    return new CrewboardError('unauthorized', `the server at ${url} does not know this API key: ${fix}`);
  }
  if (!isOutOfReach(error)) return error;
  if (error.extras.timedOut === true) {
    const detail = `the server at ${url} takes connections and does not answer: look at its log, or restart it`;
    return new CrewboardError('unavailable', detail, {}, { cause: error });
  }
  const fix = LOOPBACK.has(new URL(url).hostname)
    ? 'start it with `crewboard up`, or name another with --url'
    : 'check --url or CREWBOARD_URL';
  return new CrewboardError(
    'unavailable',
    `there is no Crewboard server at ${url}: ${fix}`,
    {},
    { cause: error },
  );
}

/** A stream that was cut is taken up again for about ten minutes: servers are restarted, machines boot. */
const RECONNECT = { tries: 65 };

/** `up` prints where the API is, and people copy it: with the /v1 that the client adds. */
const rootOf = (url: string) => url.replace(/\/v1\/?$/, '');

/**
 * Runs `use` with the client of the server that flags, environment and data folder name.
 * When that can't be reached or refuses the key, the error says what to do.
 */
export async function withServer<T>(
  config: Config,
  flags: ServerFlags,
  use: (client: Client) => Promise<T>,
): Promise<T> {
  const { url, key } = await chooseServer(config, flags);
  try {
    return await use(createClient({ baseUrl: rootOf(url), apiKey: key, reconnect: RECONNECT }));
  } catch (error) {
    throw explainFor(url, error);
  }
}
