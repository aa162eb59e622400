import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { CrewboardError } from '@crewboard/contracts';

/** How a process bounds what it streams. */
export interface StreamBounds {
  /** Streams that are open at once. */
  most: number;
  /** And those of one key: nobody shuts all others out. */
  mostOfKey: number;
  /** How long a client may take nothing of what waits for it before it is cut off; up to twice as long. */
  stuckMs: number;
}

/** Takes nothing, holds a socket: a minute is enough for a laptop that was shut for a moment. */
export const STREAM_BOUNDS: StreamBounds = { most: 1000, mostOfKey: 250, stuckMs: 60_000 };
/** When to come back to a server that streams as much as it may. */
const COME_BACK_MS = 5000;

/** The answers that are still being streamed, so that closing the server can end them. */
export interface OpenStreams {
  /**
   * Opens a stream of `produce`'s text for `response`. The producer is pulled only when the socket has taken
   * what came before, and its signal aborts when the client goes or the server closes. With `cutsStuck` a client that
   * takes nothing is cut off in the end. Throws `rate_limited` when too many are open, in all or of the key.
   */
  open(
    response: ServerResponse,
    produce: (signal: AbortSignal) => AsyncIterable<string | Buffer>,
    options: { cutsStuck: boolean; keyId: string | undefined },
  ): Readable;
  /** Ends all streams. One whose client does not read is cut, since its end would never be read either. */
  endAll(): void;
}

/** Watches whether a client still takes what is sent: asked at intervals, true once it took nothing from one to the next. */
function watchTaking(response: ServerResponse): () => boolean {
  let wasFull = false;
  let hasTaken = false;
  response.on('drain', () => {
    hasTaken = true;
  });
  return () => {
    const isStuck = response.writableNeedDrain && wasFull && !hasTaken;
    wasFull = response.writableNeedDrain;
    hasTaken = false;
    return isStuck;
  };
}

function refuseTooMany(open: number, most: number, whose: string): void {
  if (open < most) return;
  throw new CrewboardError(
    'rate_limited',
    `${whose} has ${most} streams open, which is the most: close some, or come back later.`,
    { retryAfterMs: COME_BACK_MS },
  );
}

/** Returns an empty {@link OpenStreams}. */
export function openStreams({ most, mostOfKey, stuckMs }: StreamBounds = STREAM_BOUNDS): OpenStreams {
  const running = new Map<ServerResponse, AbortController>();
  const ofKey = new Map<string, number>();
  const count = (keyId: string, by: number) => {
    const open = (ofKey.get(keyId) ?? 0) + by;
    if (open > 0) ofKey.set(keyId, open);
    else ofKey.delete(keyId);
  };
  const watched = new Map<ServerResponse, () => boolean>();
  const timer = setInterval(() => {
    for (const [response, isStuck] of watched) if (isStuck()) response.destroy();
  }, stuckMs);
  timer.unref();
  return {
    open(response, produce, { cutsStuck, keyId = '' }) {
      refuseTooMany(running.size, most, 'This server');
      refuseTooMany(ofKey.get(keyId) ?? 0, mostOfKey, 'This key');
      count(keyId, 1);
      const controller = new AbortController();
      running.set(response, controller);
      if (cutsStuck) watched.set(response, watchTaking(response));
      response.once('close', () => {
        running.delete(response);
        count(keyId, -1);
        watched.delete(response);
        controller.abort();
      });
      return Readable.from(produce(controller.signal), { highWaterMark: 1 });
    },
    endAll() {
      clearInterval(timer);
      for (const [response, controller] of running) {
        controller.abort();
        if (response.writableNeedDrain) response.destroy();
      }
    },
  };
}
