/**
 * True when the whole of `key` fits `pattern`, where `*` stands for any characters and `?` for one. Takes time in
 * proportion to the two lengths multiplied, whatever the pattern.
 */
export function fitsGlob(pattern: string, key: string): boolean {
  const wanted = [...pattern];
  const given = [...key];
  let at = 0;
  let star = -1;
  let starAt = 0;
  let i = 0;
  while (i < given.length) {
    if (wanted[at] === '*') {
      star = at;
      starAt = i;
      at += 1;
    } else if (at < wanted.length && (wanted[at] === '?' || wanted[at] === given[i])) {
      at += 1;
      i += 1;
    } else if (star >= 0) {
      // The last star takes one more.
      at = star + 1;
      starAt += 1;
      i = starAt;
    } else return false;
  }
  return wanted.slice(at).every((character) => character === '*');
}
