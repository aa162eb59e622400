import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from './log.ts';

/** What the watch needs of a connection; every ioredis client has it. */
export interface WatchedConnection {
  readonly status: string;
  ping(): Promise<unknown>;
  /** With `true`: drops the socket and connects anew; what was not answered is sent again as its options say. */
  disconnect(reconnect: boolean): void;
}

/**
 * Sees to it that no connection of this process stays dead unnoticed. A peer that is gone without a word (a machine
 * that lost its power, a firewall that forgot the connection) leaves a socket that looks open for hours.
 */
export interface ConnectionWatch {
  /**
   * Asks `connection` from now on whether it still answers. `blocksMs`: how long its commands block at most, for an
   * answer comes only after them.
   */
  add(name: string, connection: WatchedConnection, blocksMs?: number): void;
  /** Which connections do not answer at present, in one line; undefined when all do. */
  trouble(): string | undefined;
  /** Asks no more, and drops nothing from now on. */
  close(): void;
}

interface WatchDependencies {
  /** A connection that owes an answer for longer is taken for dead. */
  silenceMs: number;
  log: Log;
}

/** How often a connection is asked, as a share of the silence that is borne. */
const ASKED_SHARE = 0.25;
/** Only these hold a socket; without one ioredis is on its way to the next try already. */
const WITH_SOCKET: readonly string[] = ['ready', 'connect'];

/** Asks by PING; asked again before the answer it waits for the same one, so that a dead connection collects none. */
function asker(connection: WatchedConnection): () => Promise<boolean> {
  let asked: Promise<boolean> | undefined;
  return () => {
    asked ??= connection
      .ping()
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        asked = undefined;
      });
    return asked;
  };
}

/** How a question ended; `slept`: this process did nothing meanwhile, so nothing can be said. */
type Outcome = 'answered' | 'refused' | 'silent' | 'slept';

/** How `answer` comes out within `ms`; a timer that is `lateMs` late or more tells of a process that slept. */
function within(answer: Promise<boolean>, ms: number, lateMs: number): Promise<Outcome> {
  const dueAt = performance.now() + ms;
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      const outcome = performance.now() - dueAt < lateMs ? 'silent' : 'slept';
      // A process that was busy finds its timers due before it has read what came meanwhile: that is read first.
      setImmediate(() => resolve(outcome));
    }, ms);
    timer.unref();
    void answer.then((answered) => {
      clearTimeout(timer);
      resolve(answered ? 'answered' : 'refused');
    });
  });
}

/** Begins a watch over no connection; every wait of it is bounded, and none keeps the process alive. */
export function watchConnections({ silenceMs, log }: WatchDependencies): ConnectionWatch {
  const closed = new AbortController();
  const silent = new Set<string>();
  const pauseMs = silenceMs * ASKED_SHARE;

  function heard(name: string): void {
    if (silent.delete(name)) log.info({ connection: name }, 'a Redis connection answers again');
  }

  function lost(name: string, connection: WatchedConnection, boundMs: number): void {
    if (!silent.has(name)) {
      const about = { connection: name, silentMs: boundMs, status: connection.status };
      log.warn(about, 'a Redis connection does not answer: it is built anew');
    }
    silent.add(name);
    if (WITH_SOCKET.includes(connection.status)) connection.disconnect(true);
  }

  async function watch(name: string, connection: WatchedConnection, boundMs: number): Promise<void> {
    const ask = asker(connection);
    let since: number | undefined;
    while (!closed.signal.aborted) {
      since ??= performance.now();
      const outcome = await within(ask(), Math.max(0, since + boundMs - performance.now()), pauseMs);
      if (closed.signal.aborted) return;
      if (outcome === 'answered') heard(name);
      // One that refuses, such as a broken one on its way to the next try, has the same time.
      const isOver = outcome !== 'refused' || performance.now() >= since + boundMs;
      if (isOver && outcome !== 'answered' && outcome !== 'slept') lost(name, connection, boundMs);
      if (isOver) since = undefined;
      await delay(pauseMs, undefined, { signal: closed.signal, ref: false }).catch(() => {});
    }
  }

  return {
    add(name, connection, blocksMs = 0) {
      void watch(name, connection, silenceMs + blocksMs);
    },
    trouble() {
      if (silent.size === 0) return undefined;
      const names = [...silent].sort().join(', ');
      return `redis: no answer for ${silenceMs} ms or longer on the connection for ${names}; it is being rebuilt`;
    },
    close() {
      closed.abort();
    },
  };
}
