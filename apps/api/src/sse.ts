import type { BoardEvent } from '@crewboard/contracts';
import type { FollowItem } from '@crewboard/orchestrator';

/** Headers of an event stream: no cache, and no proxy that collects or compresses it. */
export const SSE_HEADERS = {
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
} as const;

/** An event is written out once, however many streams it goes to. */
const written = new WeakMap<BoardEvent, string>();

function eventMessage(event: BoardEvent): string {
  const known = written.get(event);
  if (known !== undefined) return known;
  const message = `event: ${event.type}\nid: ${event.id}\ndata: ${JSON.stringify(event)}\n\n`;
  written.set(event, message);
  return message;
}

function toMessage(item: FollowItem): string {
  if (item.kind === 'resync') {
    return `event: resync\nid: ${item.asOf}\ndata: ${JSON.stringify({ asOf: item.asOf })}\n\n`;
  }
  // Without data: it moves the place from which the client would go on, and nothing is dispatched.
  if (item.kind === 'place') return `id: ${item.id}\n\n`;
  return eventMessage(item.event);
}

const SILENCE = Symbol('silence');

async function orSilence<T>(promise: Promise<T>, ms: number): Promise<T | typeof SILENCE> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<typeof SILENCE>((resolve) => {
    timer = setTimeout(resolve, ms, SILENCE);
  });
  return Promise.race([promise, silence]).finally(() => clearTimeout(timer));
}

/**
 * Writes `items` as server-sent events. A comment comes first, so that headers go out before the first event,
 * and again after every `commentMs` of silence, so that proxies and clients can tell a quiet stream from a dead
 * one. Takes the next item only when the consumer asks for more.
 */
export async function* sseText(items: AsyncIterable<FollowItem>, commentMs: number): AsyncGenerator<string> {
  yield ': open\n\n';
  const iterator = items[Symbol.asyncIterator]();
  try {
    let next = iterator.next();
    for (;;) {
      // The consumer may leave while `next` is pending; its failure then has nobody else to hear it.
      next.catch(() => {});
      const result = await orSilence(next, commentMs);
      if (result === SILENCE) {
        yield ': still here\n\n';
        continue;
      }
      if (result.done) return;
      yield toMessage(result.value);
      next = iterator.next();
    }
  } finally {
    await iterator.return?.();
  }
}
