import { CrewboardError } from '@crewboard/contracts';
import fastifyRateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

const MINUTE_MS = 60_000;
/** Wrong keys from one address, in a minute, after which it is not heard until the minute is over. */
const WRONG_KEYS_MOST = 60;
/** Keys and addresses that are counted at once; the least used ones are forgotten. */
const COUNTED_MOST = 10_000;

/** How much is taken of whom; counted in this process. Each throws `rate_limited`, with `Retry-After` on the reply. */
export interface Limits {
  /** Counts a request of the key that `request.caller` came with. */
  countRequest(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** Refuses an address that has tried too many wrong keys. */
  refuseGuesser(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** Counts a wrong key. */
  countWrongKey(request: FastifyRequest): Promise<void>;
}

export interface LimitOptions {
  /** Of one key; 0: no limit. */
  requestsPerMinute: number;
  /** Whether other machines can reach the server, so that addresses tell callers apart. */
  limitsGuessing: boolean;
}

type Counted = Awaited<ReturnType<ReturnType<FastifyInstance['createRateLimit']>>>;

function refuse(reply: FastifyReply, waitSeconds: number, detail: string): never {
  void reply.header('Retry-After', String(waitSeconds));
  throw new CrewboardError('rate_limited', `${detail} Try again in ${waitSeconds} s.`, {
    retryAfterMs: waitSeconds * 1000,
  });
}

const waitOf = (counted: Counted) => (counted.isAllowed ? 0 : Math.max(1, counted.ttlInSeconds));

/** Takes in what counts. Its plugin is loaded with the application; {@link createLimits} is for after that. */
export function prepareLimits(app: FastifyInstance): void {
  void app.register(fastifyRateLimit, { global: false, cache: COUNTED_MOST });
}

/** Returns the limits of an application whose plugins up to {@link prepareLimits} are loaded. */
export function createLimits(app: FastifyInstance, options: LimitOptions): Limits {
  const { requestsPerMinute, limitsGuessing } = options;
  const count = app.createRateLimit({
    max: requestsPerMinute,
    timeWindow: MINUTE_MS,
    keyGenerator: ({ caller }) => caller?.keyId ?? '',
  });
  // By address (of IPv6 by network), which is the plugin's own way.
  const countWrong = app.createRateLimit({ max: WRONG_KEYS_MOST, timeWindow: MINUTE_MS });
  return {
    async countRequest(request, reply) {
      if (requestsPerMinute === 0) return;
      const counted = await count(request);
      if (counted.isAllowed || !counted.isExceeded) return;
      refuse(
        reply,
        waitOf(counted),
        `This key has made ${requestsPerMinute} requests in this minute, which is the most (CREWBOARD_RATE_LIMIT).`,
      );
    },
    async refuseGuesser(request, reply) {
      if (!limitsGuessing) return;
      const counted = await countWrong(request, { increment: false });
      // Nothing is counted here, so what is at the bound has used it up.
      if (counted.isAllowed || counted.remaining > 0) return;
      refuse(reply, waitOf(counted), 'Too many wrong keys came from this address.');
    },
    async countWrongKey(request) {
      if (limitsGuessing) await countWrong(request);
    },
  };
}
