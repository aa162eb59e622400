import { isAbsolute, relative, sep } from 'node:path';

const DENIED_NAMES = new Set(['.git', '.ssh', '.npmrc', 'crewboard.config.json']);

/**
 * Folds a name or path to the form in which denials are compared. File systems differ in what they take for the
 * same name (case, composed characters, invisible ones), so the strictest reading is used on all of them.
 */
export function foldPath(path: string): string {
  return path
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase();
}

/** True for a file or folder name that agents never see, at any depth: `.git`, `.ssh`, `.npmrc`, `.env*`, and our own configuration. */
export function isDeniedName(name: string): boolean {
  const folded = foldPath(name);
  return DENIED_NAMES.has(folded) || folded.startsWith('.env');
}

/** True when `path` is `folder` itself or lies below it. Both are absolute and normalised. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** The parts of a path between separators, without empty ones and ".". */
export function pathParts(path: string): string[] {
  return path.split(sep).filter((part) => part !== '' && part !== '.');
}

/** Orders by Unicode code point, which JavaScript's own order by UTF-16 code unit is not. */
export function byCodePoint(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left === right) continue;
    // A surrogate stands for a character above U+FFFF, so it sorts after every other unit.
    const isLeftPair = left >= 0xd800 && left <= 0xdfff;
    const isRightPair = right >= 0xd800 && right <= 0xdfff;
    return isLeftPair === isRightPair ? left - right : Number(isLeftPair) - Number(isRightPair);
  }
  return a.length - b.length;
}
