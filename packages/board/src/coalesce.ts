import { z } from 'zod';
import type { ManyScript, ScriptArguments } from './scripts.ts';

/** Calls that one script carries out at most: more would keep others waiting for longer than they gain. */
const CALLS_MOST = 32;

const Replies = z.array(z.unknown());

interface Call {
  args: ScriptArguments;
  resolve(reply: unknown): void;
  reject(error: unknown): void;
}

/** How calls reach Redis: alone, or several of one script and board at once. */
export interface Senders {
  one(jobId: string, name: ManyScript, args: ScriptArguments): Promise<unknown>;
  many(jobId: string, name: ManyScript, calls: readonly ScriptArguments[]): Promise<unknown>;
}

async function send(
  senders: Senders,
  jobId: string,
  name: ManyScript,
  calls: readonly Call[],
): Promise<void> {
  const [first] = calls;
  if (first === undefined) return;
  if (calls.length === 1) return first.resolve(await senders.one(jobId, name, first.args));
  const answer = await senders.many(
    jobId,
    name,
    calls.map(({ args }) => args),
  );
  const replies = Replies.length(calls.length).parse(answer);
  for (const [i, { resolve }] of calls.entries()) resolve(replies[i]);
}

/**
 * Sends calls of one script and board that come in the same turn of the event loop to Redis as one script, at most
 * {@link CALLS_MOST} in each: most of what a transition costs is what a script costs by itself. Each call gets its own
 * reply, and they happen in the order in which they were made. A script that fails as a whole has changed nothing, and
 * each of its calls rejects.
 */
export function coalesce(senders: Senders) {
  const waiting = new Map<string, Call[]>();
  const flush = (key: string, jobId: string, name: ManyScript) => {
    const calls = waiting.get(key) ?? [];
    waiting.delete(key);
    for (let from = 0; from < calls.length; from += CALLS_MOST) {
      const part = calls.slice(from, from + CALLS_MOST);
      send(senders, jobId, name, part).catch((error: unknown) => {
        for (const { reject } of part) reject(error);
      });
    }
  };
  return (jobId: string, name: ManyScript, args: ScriptArguments): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const key = `${name} ${jobId}`;
      const calls = waiting.get(key);
      if (calls !== undefined) {
        calls.push({ args, resolve, reject });
        return;
      }
      waiting.set(key, [{ args, resolve, reject }]);
      setImmediate(flush, key, jobId, name);
    });
}
