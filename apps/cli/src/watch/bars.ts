import type { Paint } from './paint.ts';

/** How many columns of a bar `part` of `total` fills; not all of them before all are done. */
function filled(part: number, total: number, width: number): number {
  return total === 0 ? 0 : Math.floor((part / total) * width);
}

interface Share {
  completed: number;
  failed: number;
  total: number;
}

/** Completed, then failed, then the rest, `width` columns in all. */
export function bar(counts: Share, width: number, paint: Paint): string {
  const done = filled(counts.completed, counts.total, width);
  const lost = filled(counts.completed + counts.failed, counts.total, width) - done;
  const rest = width - done - lost;
  return `${paint.green('█'.repeat(done))}${paint.red('▓'.repeat(lost))}${paint.dim('░'.repeat(rest))}`;
}
