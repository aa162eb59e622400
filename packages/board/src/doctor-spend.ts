import type { DoctorScripts, Finding } from './doctor-scripts.ts';

/** Settled, estimated and reserved money, the same in tokens, and what is wasted. */
const NAMES = [
  'settled',
  'estimated',
  'reserved',
  'settled tokens',
  'estimated tokens',
  'reserved tokens',
  'wasted',
];
/** Of a board that is spending while it is looked at. */
const TRIES = 5;

type Slice = Awaited<ReturnType<DoctorScripts['spend']>>;
type Sums = number[];

interface Walk {
  /** False when the spend changed on the way: then its sums say nothing. */
  isWhole: boolean;
  seen: Set<string>;
  findings: Finding[];
  job: Sums;
  tasks: Map<string, Sums>;
  attempts: Map<string, Sums>;
  calls: Map<string, Sums>;
}

function addTo(sums: Map<string, Sums>, taskId: string, more: readonly number[]): void {
  const before = sums.get(taskId) ?? [];
  sums.set(
    taskId,
    Array.from({ length: 7 }, (_, i) => (before[i] ?? 0) + (more[i] ?? 0)),
  );
}

/** A scan may meet a field twice: it counts once. */
function addSlice(walk: Walk, slice: Slice): void {
  const isNew = ([field]: readonly [string, ...unknown[]]) => !walk.seen.has(field) && walk.seen.add(field);
  walk.findings.push(...slice.findings);
  walk.job = slice.job;
  for (const [taskId, ...sums] of slice.tasks.filter(isNew)) addTo(walk.tasks, taskId, sums);
  for (const [, taskId, ...sums] of slice.attempts.filter(isNew)) addTo(walk.attempts, taskId, sums);
  for (const [, taskId, sum, money, tokens] of slice.calls.filter(isNew)) {
    const sums = [0, 0, 0, 0, 0, 0, 0];
    sums[sum - 1] = money;
    sums[sum + 2] = tokens;
    addTo(walk.calls, taskId, sums);
  }
}

/** One walk over the spend. */
async function walkOnce(scripts: DoctorScripts, signal: AbortSignal | undefined): Promise<Walk> {
  const maps = {
    tasks: new Map<string, Sums>(),
    attempts: new Map<string, Sums>(),
    calls: new Map<string, Sums>(),
  };
  const walk: Walk = { isWhole: true, seen: new Set(), findings: [], job: [], ...maps };
  let cursor = '0';
  let changes: number | undefined;
  do {
    signal?.throwIfAborted();
    const slice = await scripts.spend(cursor);
    changes ??= slice.changes;
    addSlice(walk, slice);
    // What a slice has put right is a change as well: the next walk adds up what is there then.
    const isMended = slice.findings.some(({ repaired }) => repaired);
    walk.isWhole = walk.isWhole && slice.changes === changes && !isMended;
    cursor = slice.cursor;
  } while (cursor !== '0');
  return walk;
}

function differences(found: Sums, expected: Sums, places: readonly number[], taskId?: string): Finding[] {
  return places
    .filter((at) => (found[at] ?? 0) !== (expected[at] ?? 0))
    .map((at) => ({
      check: 'spend',
      ...(taskId === undefined ? {} : { taskId }),
      found: `${NAMES[at]} ${found[at] ?? 0}`,
      expected: `${NAMES[at]} ${expected[at] ?? 0}: the sum of its parts`,
      repairable: false,
      repaired: false,
    }));
}

function total(sums: Iterable<Sums>): Sums {
  const all = new Map<string, Sums>();
  for (const each of sums) addTo(all, '', each);
  return all.get('') ?? [];
}

/**
 * Compares what a board has spent with its parts: the job with its tasks, each task with its attempts, and what is
 * estimated and reserved with the open calls. A board that spends all the while is not judged.
 */
export async function checkSpend(
  scripts: DoctorScripts,
  signal: AbortSignal | undefined,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (let tries = 0; tries < TRIES; tries++) {
    const walk = await walkOnce(scripts, signal);
    if (!walk.isWhole) {
      findings.push(...walk.findings);
      continue;
    }
    findings.push(
      ...walk.findings,
      ...differences(walk.job, total(walk.tasks.values()), [0, 1, 2, 3, 4, 5, 6]),
    );
    for (const [taskId, sums] of walk.tasks) {
      findings.push(...differences(sums, walk.attempts.get(taskId) ?? [], [0, 1, 2, 3, 4, 5], taskId));
      findings.push(...differences(sums, walk.calls.get(taskId) ?? [], [1, 2, 4, 5], taskId));
    }
    break;
  }
  return findings;
}
