/** Levenshtein's distance of two names, in UTF-16 code units. */
export function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replace = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replace, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
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
