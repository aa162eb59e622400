import { coalesce } from './coalesce.ts';
import type { Keyspace } from './keys.ts';
import { askerOf, readTaskFacts, type TaskFacts } from './refusal-facts.ts';
import { refusal } from './refusals.ts';
import { asUnavailable, type RefusedReply, refusedReply } from './replies.ts';
import {
  keysOf,
  MANY_SCRIPTS,
  type ManyScript,
  prepareScripts,
  type RedisClient,
  type ScriptArguments,
  type ScriptName,
} from './scripts.ts';

/** What every part of the board store works with. */
export interface BoardIo {
  redis: RedisClient;
  keys: Keyspace;
  /**
   * Runs a script of one board. Its refusal is thrown as the error that it stands for, with the task as it is now; a
   * Redis that can't be reached or written to becomes `unavailable`.
   */
  run(jobId: string, name: ScriptName, args: ScriptArguments, journalOf?: string): Promise<unknown>;
  /** Runs plain commands with the same mapping of failures. */
  guard<T>(work: () => Promise<T>): Promise<T>;
}

const isManyScript = (name: ScriptName): name is ManyScript => MANY_SCRIPTS.some((many) => many === name);

/** Binds `redis` (a connection that the caller owns and closes) to a keyspace. */
export function boardIo(redis: RedisClient, keys: Keyspace): BoardIo {
  const scripts = prepareScripts(redis);
  const keyNames = rememberKeyNames(keys);
  const runCoalesced = coalesce({
    one: (jobId, name, args) => scripts.one(name, keyNames(jobId, name), args),
    many: (jobId, name, calls) => scripts.many(name, keyNames(jobId, name), calls),
  });
  const guard = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw asUnavailable(error);
    }
  };
  const runOne = (jobId: string, name: ScriptName, args: ScriptArguments, journalOf?: string) =>
    isManyScript(name)
      ? runCoalesced(jobId, name, args)
      : scripts.one(name, keyNames(jobId, name, journalOf), args);
  return {
    redis,
    keys,
    guard,
    run: (jobId, name, args, journalOf) =>
      guard(async () => {
        const reply = await runOne(jobId, name, args, journalOf);
        const refused = refusedReply(reply);
        if (refused === undefined) return reply;
        const read = (taskIds: readonly string[]) => runOne(jobId, 'read_tasks', [0, ...taskIds]);
        throw refusal(refused, await factsOf(refused, read, name, args));
      }),
  };
}

/** Tokens of attempts that are not, or no longer, the task's. */
const OUTSIDE: readonly string[] = ['not_owner', 'lease_lost'];

/** What is known of the task that a refusal is about. */
async function factsOf(
  { word, current }: RefusedReply,
  read: (taskIds: readonly string[]) => Promise<unknown>,
  name: ScriptName,
  args: ScriptArguments,
): Promise<TaskFacts | undefined> {
  if (current.taskId === undefined || current.status === undefined) return undefined;
  const isOutside = current.isOutside === true || OUTSIDE.includes(word);
  return readTaskFacts(read, current.taskId, askerOf(name, args, isOutside, current.status));
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
