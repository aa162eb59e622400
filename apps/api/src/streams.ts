import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';

/** The answers that are still being streamed, so that closing the server can end them. */
export interface OpenStreams {
  /**
   * Opens a stream of `produce`'s text for `response`. The producer is pulled only when the socket has taken
   * what came before, and its signal aborts when the client goes or the server closes.
   */
  open(response: ServerResponse, produce: (signal: AbortSignal) => AsyncIterable<string>): Readable;
  /** Ends all streams. One whose client does not read is cut, since its end would never be read either. */
  endAll(): void;
}

/** Returns an empty {@link OpenStreams}. */
export function openStreams(): OpenStreams {
  const running = new Map<ServerResponse, AbortController>();
  return {
    open(response, produce) {
      const controller = new AbortController();
      running.set(response, controller);
      response.once('close', () => {
        running.delete(response);
        controller.abort();
      });
      return Readable.from(produce(controller.signal), { highWaterMark: 1 });
    },
    endAll() {
      for (const [response, controller] of running) {
        controller.abort();
        if (response.writableNeedDrain) response.destroy();
      }
    },
  };
}
