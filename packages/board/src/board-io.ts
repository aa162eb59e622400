import type { Keyspace } from './keys.ts';
import { asUnavailable } from './replies.ts';
import { prepareScripts, type RedisClient, type ScriptName } from './scripts.ts';

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
    run: (jobId, name, args, journalOf = '') =>
      guard(() =>
        runScript(
          name,
          (key) => (key === 'journal' ? keys.journal(jobId, journalOf) : keys.board(jobId, key)),
          args,
        ),
      ),
  };
}
