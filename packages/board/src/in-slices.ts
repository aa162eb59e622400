import { setImmediate as yieldNow } from 'node:timers/promises';

/** Work on many things gives way to others after so long. */
const SLICE_MS = 20;

/** Does `work` for each item in turn, without keeping the process from its other work. What it throws ends it. */
export async function inSlices<T>(
  items: readonly T[],
  work: (item: T, index: number) => void,
): Promise<void> {
  let since = performance.now();
  for (const [i, item] of items.entries()) {
    work(item, i);
    if (performance.now() - since < SLICE_MS) continue;
    await yieldNow();
    since = performance.now();
  }
}
