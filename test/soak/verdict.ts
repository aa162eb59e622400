import type { Sample } from './sample.ts';

/** A figure is flat when it has not grown by more than this from the middle third to the last. */
const FLAT = 1.1;

function medianOf(samples: readonly Sample[], name: string): number {
  const values = samples.map((sample) => sample[name] ?? 0).sort((a, b) => a - b);
  return values[Math.floor(values.length / 2)] ?? 0;
}

export interface Verdict {
  name: string;
  middle: number;
  last: number;
  isFlat: boolean;
}

/** Compares the last third's median of each figure with the middle third's; needs at least three samples. */
export function verdictsOf(samples: readonly Sample[]): Verdict[] {
  const third = Math.floor(samples.length / 3);
  const middle = samples.slice(samples.length - 2 * third, samples.length - third);
  const last = samples.slice(samples.length - third);
  return Object.keys(samples[0] ?? {}).map((name) => {
    const [before, after] = [medianOf(middle, name), medianOf(last, name)];
    return { name, middle: before, last: after, isFlat: after <= before * FLAT };
  });
}
