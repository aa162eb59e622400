import type { BoardEvent } from '@crewboard/contracts';

/** Events of one job that are kept for its followers. */
const KEPT_MOST = 200;

/**
 * The newest events of a log, read once for all who follow it: whoever keeps up takes them from here, whoever is
 * further behind reads the log.
 */
export interface RecentEvents {
  /** The last event that was read; the log goes on after it. */
  readonly last: string;
  add(events: readonly BoardEvent[]): void;
  /** Forgets what is kept and goes on after `last`. */
  skipTo(last: string): void;
  /** The events after `cursor`; undefined when that is not among what is kept. */
  after(cursor: string): readonly BoardEvent[] | undefined;
}

/** Begins after the event `start`. */
export function recentEvents(start: string): RecentEvents {
  let before = start;
  let kept: readonly BoardEvent[] = [];
  const last = () => kept.at(-1)?.id ?? before;
  return {
    get last() {
      return last();
    },
    add(events) {
      const all = [...kept, ...events];
      const surplus = Math.max(0, all.length - KEPT_MOST);
      before = all[surplus - 1]?.id ?? before;
      kept = all.slice(surplus);
    },
    skipTo(place) {
      before = place;
      kept = [];
    },
    after(cursor) {
      if (cursor === before) return kept;
      const at = kept.findLastIndex(({ id }) => id === cursor);
      return at < 0 ? undefined : kept.slice(at + 1);
    },
  };
}
