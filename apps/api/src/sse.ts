import type { BoardEvent } from '@crewboard/contracts';
import type { FollowItem } from '@crewboard/orchestrator';

/** Headers of an event stream: no cache, and no proxy that collects or compresses it. */
export const SSE_HEADERS = {
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
} as const;

/** An event is written out once, however many streams it goes to. */
const written = new WeakMap<BoardEvent, Buffer>();

function eventMessage(event: BoardEvent): Buffer {
  const known = written.get(event);
  if (known !== undefined) return known;
  const message = Buffer.from(`event: ${event.type}\nid: ${event.id}\ndata: ${JSON.stringify(event)}\n\n`);
  written.set(event, message);
  return message;
}

function toMessage(item: FollowItem): string | Buffer {
  if (item.kind === 'resync') {
    return `event: resync\nid: ${item.asOf}\ndata: ${JSON.stringify({ asOf: item.asOf })}\n\n`;
  }
  // Without data: it moves the place from which the client would go on, and nothing is dispatched.
  if (item.kind === 'place') return `id: ${item.id}\n\n`;
  return eventMessage(item.event);
}

const SILENCE = Symbol('silence');

/** Bounds waits one after the other by `ms` each, with one timer for all of them: a busy stream waits for each event. */
function createSilence(ms: number) {
  let fall = () => {};
  const timer = setTimeout(() => fall(), ms);
  return {
    /** What `promise` comes to, or {@link SILENCE} when that takes longer. */
    or<T>(promise: Promise<T>): Promise<T | typeof SILENCE> {
      return new Promise((resolve, reject) => {
        fall = () => resolve(SILENCE);
        timer.refresh();
        promise.then(resolve, reject);
      });
    },
    end: () => clearTimeout(timer),
  };
}

/**
 * Writes `items` as server-sent events. A comment comes first, so that headers go out before the first event,
 * and again after every `commentMs` of silence, so that proxies and clients can tell a quiet stream from a dead
 * one. Takes the next item only when the consumer asks for more.
 */
export async function* sseText(
  items: AsyncIterable<FollowItem>,
  commentMs: number,
): AsyncGenerator<string | Buffer> {
  yield ': open\n\n';
  const silence = createSilence(commentMs);
  const iterator = items[Symbol.asyncIterator]();
  try {
    let next = iterator.next();
    for (;;) {
      // The consumer may leave while `next` is pending; its failure then has nobody else to hear it.
      next.catch(() => {});
      const result = await silence.or(next);
      if (result === SILENCE) {
        yield ': still here\n\n';
        continue;
      }
      if (result.done) return;
      yield toMessage(result.value);
      next = iterator.next();
    }
  } finally {
    silence.end();
    await iterator.return?.();
  }
}
