import { duration } from '../text.ts';

/** How long before `nowMs` the time `at` was. */
export function ago(at: string, nowMs: number): string {
  return duration(Math.max(0, nowMs - Date.parse(at)));
}
