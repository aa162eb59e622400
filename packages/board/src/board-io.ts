import type { Keyspace } from './keys.ts';
import { asUnavailable } from './replies.ts';
import { keysOf, prepareScripts, type RedisClient, type ScriptName } from './scripts.ts';

/** What every part of the board store works with. */
export interface BoardIo {
  redis: RedisClient;
  keys: Keyspace;
  /** Runs a script of one board; a Redis that can't be reached or written to becomes `unavailable`. */
  run(
    jobId: string,
    name: ScriptName,
    args: readonly (string | number)[],
    journalOf?: string,
  ): Promise<unknown>;
  /** Runs plain commands with the same mapping of failures. */
  guard<T>(work: () => Promise<T>): Promise<T>;
}

/** Binds `redis` (a connection that the caller owns and closes) to a keyspace. */
export function boardIo(redis: RedisClient, keys: Keyspace): BoardIo {
  const runScript = prepareScripts(redis);
  const keyNames = rememberKeyNames(keys);
  const guard = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw asUnavailable(error);
    }
  };
  return {
    redis,
    keys,
    guard,
    run: (jobId, name, args, journalOf) =>
      guard(() => runScript(name, keyNames(jobId, name, journalOf), args)),
  };
}

const JOBS_REMEMBERED = 1000;

/** Names the keys of a script's call; those of the jobs used last are remembered, for they are built at every call. */
function rememberKeyNames(keys: Keyspace) {
  const known = new Map<string, Map<ScriptName, string[]>>();
  return (jobId: string, name: ScriptName, journalOf = ''): string[] => {
    const build = () =>
      keysOf(name).map((key) =>
        key === 'journal' ? keys.journal(jobId, journalOf) : keys.board(jobId, key),
      );
    if (journalOf !== '') return build();
    let ofJob = known.get(jobId);
    if (ofJob === undefined) {
      if (known.size >= JOBS_REMEMBERED) known.clear();
      ofJob = new Map();
      known.set(jobId, ofJob);
    }
    const names = ofJob.get(name) ?? build();
    ofJob.set(name, names);
    return names;
  };
}
