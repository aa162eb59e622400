import type { Hold } from '@crewboard/board';
import type { EndedAttempt, HolderKind, Metrics } from './metrics.ts';

/** Attempts that are remembered at once; of older ones the holder and the duration are not known any more. */
const REMEMBERED_MOST = 10_000;

interface Held {
  holder: HolderKind;
  claimedAt: number;
}

/** Counts each attempt that starts or ends here once, however often its claim or its end is repeated. */
export function heldAttempts(metrics: Metrics) {
  /** By token; `over` for one whose end was counted. */
  const known = new Map<string, Held | 'over'>();

  function remember(token: string, what: Held | 'over'): void {
    known.delete(token);
    known.set(token, what);
    const [oldest] = known.keys();
    if (known.size > REMEMBERED_MOST && oldest !== undefined) known.delete(oldest);
  }

  return {
    started(token: string, holder: HolderKind): void {
      if (known.has(token)) return;
      remember(token, { holder, claimedAt: performance.now() });
      metrics.attemptStarted(holder);
    },
    ended({ token }: Hold, end: Pick<EndedAttempt, 'outcome' | 'failureClass'>): void {
      const held = known.get(token);
      if (held === 'over') return;
      remember(token, 'over');
      const about =
        held === undefined
          ? { holder: 'unknown' as const }
          : { holder: held.holder, heldMs: performance.now() - held.claimedAt };
      metrics.attemptEnded({ ...end, ...about });
    },
  };
}

export type HeldAttempts = ReturnType<typeof heldAttempts>;
