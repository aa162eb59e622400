import { CrewboardError } from '@crewboard/contracts';
import { z } from 'zod';
import { isOutOfMemory } from './when-full.ts';

const RefusedReplyList = z.tuple([z.literal('refused'), z.string(), z.string()]);
/** What a script says with a refusal. */
const Current = z.looseObject({
  what: z.string().optional(),
  taskId: z.string().optional(),
  status: z.string().optional(),
  code: z.number().optional(),
  version: z.number().optional(),
  attempt: z.number().optional(),
  owner: z.string().optional(),
  hold: z.string().optional(),
  notBefore: z.number().optional(),
  job: z.string().optional(),
  pauses: z.string().optional(),
  key: z.string().optional(),
  reference: z.string().optional(),
  index: z.number().optional(),
  maxTasks: z.number().optional(),
  tasks: z.number().optional(),
  adding: z.number().optional(),
  review: z.string().optional(),
  awaits: z.literal('approval').optional(),
  plan: z.number().optional(),
  most: z.number().optional(),
  path: z.array(z.string()).optional(),
  lost: z.number().optional(),
  outcome: z.string().optional(),
  lostBy: z.string().optional(),
  running: z.string().optional(),
  isOutside: z.boolean().optional(),
  found: z.number().optional(),
  expected: z.number().optional(),
});
export type Current = z.infer<typeof Current>;

/** A script's refusal: the word, and what the script says of it. */
export interface RefusedReply {
  word: string;
  current: Current;
}

/** The refusal in a script's reply; undefined for any other reply. */
export function refusedReply(reply: unknown): RefusedReply | undefined {
  if (!Array.isArray(reply) || reply[0] !== 'refused') return undefined;
  const [, word, json] = RefusedReplyList.parse(reply);
  return { word, current: Current.parse(JSON.parse(json)) };
}

/** Parses a script's reply, whose words are checked by the caller's schema. Refusals have been thrown before. */
export function parseReply<T>(reply: unknown, schema: z.ZodType<T>): T {
  return schema.parse(reply);
}

const UNAVAILABLE =
  /OOM|LOADING|MISCONF|READONLY|CLUSTERDOWN|TRYAGAIN|BUSY|NOAUTH|Connection is closed|ECONN|ETIMEDOUT|EPIPE|max retries|Stream isn't writeable|Command timed out|None of startup nodes/i;

/** Maps a failure of Redis itself to `unavailable`; anything else (a refusal, a bug) goes through unchanged. */
export function asUnavailable(error: unknown): unknown {
  if (error instanceof CrewboardError || !(error instanceof Error)) return error;
  if (!UNAVAILABLE.test(error.message) && error.name !== 'MaxRetriesPerRequestError') return error;
  const full = isOutOfMemory(error);
  return new CrewboardError(
    'unavailable',
    full
      ? 'Redis is out of memory. Nothing was changed. Raise maxmemory, or (with Redis 7.0 or newer) delete ended jobs (DELETE /v1/jobs/:id), then try again.'
      : 'Redis can not be reached or can not take writes. Try again in a moment.',
    {},
    { cause: error },
  );
}

/** True when `error` says that the attempt of a token is over. */
export function isLeaseLost(error: unknown): boolean {
  return error instanceof CrewboardError && error.code === 'lease_lost';
}
