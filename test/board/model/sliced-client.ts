import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';

/** Where the scripts, whose constants are literals by then, say how much one step does. */
const BOUNDS = [/\bedgesLeft = \d+$/m, /\bdone < \d+\b/];

function withBounds(text: string, most: number): string {
  const bounded = BOUNDS.reduce(
    (source, bound) => source.replace(bound, (line) => line.replace(/\d+$/, String(most))),
    text,
  );
  return bounded.replace(/\blocal left = most$/m, `local left = ${most}`);
}

/**
 * A client whose board scripts settle and cancel at most `most` edges a step, and run as many tasks again, so that slices, which need hundreds of
 * dependents otherwise, are met on small boards. Everything else is the client given.
 */
export function slicedClient(redis: Redis, most: number): Redis {
  const sliced = new Map<string, string>();
  const call = async (name: string, args: (string | number)[]): Promise<unknown> => {
    const [script = '', ...rest] = args;
    if (name === 'evalsha') {
      const text = sliced.get(String(script));
      // The caller answers this with the whole script.
      if (text === undefined) throw new Error('NOSCRIPT');
      return redis.call('eval', [text, ...rest]);
    }
    const text = withBounds(String(script), most);
    sliced.set(createHash('sha1').update(String(script)).digest('hex'), text);
    return redis.call(name, [text, ...rest]);
  };
  return new Proxy(redis, {
    get: (target, property) => {
      if (property === 'call') return call;
      const value: unknown = Reflect.get(target, property);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
