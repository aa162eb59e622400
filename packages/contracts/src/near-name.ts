/** Edits between two names, in UTF-16 code units: one put in, left out or replaced, or two neighbours swapped, each once. */
export function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replace = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = isSwap ? (before[j - 2] ?? 0) + 1 : replace;
      next.push(Math.min(replace, swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row[b.length] ?? 0;
}

/** Longer names are no field's. */
const NAME_MOST = 64;

const bare = (name: string) => name.replaceAll(/[\s_-]/g, '').toLowerCase();

/** The one of `names` that a misspelt `name` meant: `task_id` is near `taskId`; undefined when none is near. */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  if (name.length > NAME_MOST) return undefined;
  const wanted = bare(name);
  const allowed = Math.floor(wanted.length / 3);
  const near = names
    .map((each) => ({ each, away: editDistance(wanted, bare(each)) }))
    .filter(({ away }) => away <= allowed)
    .sort((a, b) => a.away - b.away);
  return near[0]?.each;
}
