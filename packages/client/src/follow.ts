import { BoardEvent, CrewboardError, TERMINAL_EVENT_TYPES } from '@crewboard/contracts';
import { jobPath, withQuery } from './requests.ts';
import { isPassing, isTimeout, pause, type Retries, waitMs } from './retries.ts';
import { readMessages } from './sse.ts';
import type { Transport } from './transport.ts';

export interface FollowOptions {
  /** The ID of the last event already known, or `now` for new ones only; absent: from the start. */
  after?: string | undefined;
  /** Only events of these types or families (`task.*`); the terminal event comes anyway. */
  types?: readonly string[] | undefined;
  /** Only events about this task; the terminal event comes anyway. */
  taskId?: string | undefined;
  /** Ends the iteration quietly. */
  signal?: AbortSignal | undefined;
  /**
   * Called when the log does not hold `after` any more: read the tasks anew, what follows comes after `asOf`.
   * Without it that is an error.
   */
  onResync?: ((asOf: string) => void) | undefined;
  /** Called when a connection was cut or could not be opened again, before the next try. */
  onReconnect?: ((cause: unknown) => void) | undefined;
}

function missing(after: string | undefined, jobId: string, asOf: string): CrewboardError {
  const detail = `Event ${after} is not in the log of ${jobId} any more: list its tasks and follow from ${asOf}.`;
  return new CrewboardError('not_found', detail, { asOf });
}

function request(jobId: string, after: string | undefined, { types, taskId, signal }: FollowOptions) {
  const query = { after: after === 'now' ? after : undefined, types: types?.join(','), taskId };
  return {
    path: withQuery(`${jobPath(jobId)}/events`, query),
    headers: {
      accept: 'text/event-stream',
      ...(after === undefined || after === 'now' ? {} : { 'last-event-id': after }),
    },
    signal,
    // The loop below tries again itself, from where it got to.
    repeatable: false,
  };
}

/**
 * Follows a job's events and ends after the terminal one. A connection that breaks is opened again from the
 * last event seen, each event once, until `reconnect.tries` in a row were of no use: they brought no event, and did not
 * last for `reconnect.maxMs` either, as those of a quiet job do that a proxy cuts from time to time. The first connection
 * is tried once. Throws CrewboardError, `unavailable` when the server stays away.
 */
export async function* followEvents(
  transport: Transport,
  jobId: string,
  options: FollowOptions,
  reconnect: Retries,
): AsyncGenerator<BoardEvent> {
  const { after, signal, onResync } = options;
  let last = after;
  let ended = false;
  let connected = false;
  for (let failures = 0; !signal?.aborted; ) {
    let openedAt = Number.POSITIVE_INFINITY;
    let cut: unknown = new CrewboardError(
      'unavailable',
      `The event stream of ${jobId} keeps ending early: try again later.`,
    );
    try {
      const call = request(jobId, last, options);
      const lines = await transport.lines(call);
      if (lines === undefined) return;
      connected = true;
      openedAt = performance.now();
      for await (const message of readMessages(lines)) {
        failures = 0;
        if (message.event === 'resync') {
          const asOf = message.id ?? '';
          if (onResync === undefined) throw missing(last, jobId, asOf);
          last = asOf;
          onResync(asOf);
          continue;
        }
        if (message.data === '') {
          last = message.id ?? last;
          continue;
        }
        const event = transport.parse(BoardEvent, message.data, call.path);
        last = event.id;
        ended = TERMINAL_EVENT_TYPES.includes(event.type);
        yield event;
      }
      // Only a stream that the server itself ended is over: a cut one may have been reopened meanwhile.
      if (ended) return;
    } catch (error) {
      if (signal?.aborted) return;
      if (!connected || !isPassing(error)) throw error;
      cut = error;
    }
    const lasted = !isTimeout(cut) && performance.now() - openedAt >= reconnect.maxMs;
    failures = lasted ? 1 : failures + 1;
    if (failures > reconnect.tries) throw cut;
    options.onReconnect?.(cut);
    await pause(waitMs(reconnect, failures, cut), signal);
  }
}
