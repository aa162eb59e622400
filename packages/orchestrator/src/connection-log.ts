import type { EventEmitter } from 'node:events';
import type { Log } from './log.ts';

/** The same failure is told of again after so long at the earliest: tries go on several times a second. */
const AGAIN_MS = 60_000;
/** So many failures are told apart; of more the one that was told of first is forgotten. */
const KINDS_MOST = 20;

/**
 * Returns what tells `log` of failures under `message`: each at once, the same one again at most once in `againMs`, with
 * how often it came meanwhile (`times`). For what is tried again and again while Redis is away.
 */
export function failureLog(log: Log, message: string, againMs = AGAIN_MS): (error: Error) => void {
  const told = new Map<string, { atMs: number; times: number }>();
  return ({ message: err }) => {
    const now = performance.now();
    const last = told.get(err);
    if (last !== undefined && now - last.atMs < againMs) {
      last.times += 1;
      return;
    }
    told.delete(err);
    const [oldest] = told.keys();
    if (oldest !== undefined && told.size >= KINDS_MOST) told.delete(oldest);
    told.set(err, { atMs: now, times: 0 });
    log.warn(last === undefined ? { err } : { err, times: last.times + 1 }, message);
  };
}

/** Tells `log` when the connection `name` fails, as {@link failureLog} does, and when it is there again. */
export function logConnection(
  redis: Pick<EventEmitter, 'on'>,
  name: string,
  log: Log,
  againMs = AGAIN_MS,
): void {
  let tell = failureLog(log, `redis connection for ${name}`, againMs);
  let awaySinceMs: number | undefined;
  redis.on('error', (error: Error) => {
    awaySinceMs ??= performance.now();
    tell(error);
  });
  redis.on('ready', () => {
    if (awaySinceMs === undefined) return;
    const awayMs = Math.round(performance.now() - awaySinceMs);
    log.info({ awayMs }, `redis connection for ${name} is there again`);
    awaySinceMs = undefined;
    tell = failureLog(log, `redis connection for ${name}`, againMs);
  });
}
