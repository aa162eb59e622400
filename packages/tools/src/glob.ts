import { CrewboardError } from '@crewboard/contracts';
import { RE2JS } from 're2js';

/** A glob, ready to be matched against paths relative to the workspace. */
export interface Glob {
  /** The leading folders without wildcards: where a walk begins. "." when there are none. */
  base: string;
  /** The whole glob when it has no wildcard: it may then name a folder, meaning all in it. */
  literal?: string;
  matches(path: string): boolean;
}

const WILDCARD = /[*?[{\\]/;

/** `path` as a glob that matches it alone. */
export function escapeGlob(path: string): string {
  return path.replace(/[*?[{\\]/g, '\\$&');
}

function wrongGlob(glob: string, problem: string): CrewboardError {
  return new CrewboardError('invalid_argument', `The glob ${JSON.stringify(glob)} ${problem}.`, {
    path: 'glob',
    example: { glob: 'src/**/*.{ts,md}' },
  });
}

/** The regular expression of a `[...]` that begins at `start`, and where it ends. */
function bracket(glob: string, start: number): { source: string; end: number } {
  const isNegated = glob[start + 1] === '!' || glob[start + 1] === '^';
  const from = start + (isNegated ? 2 : 1);
  // A "]" that comes first stands for itself.
  const end = glob.indexOf(']', from + 1);
  if (end < 0) throw wrongGlob(glob, 'has a "[" without "]" (write "\\\\[" for the character)');
  const members = glob.slice(from, end).replace(/[\\\]^[&]/g, '\\$&');
  return { source: isNegated ? `[^/${members}]` : `[${members}]`, end: end + 1 };
}

/** The regular expression of a run of stars at `start`: "**" between slashes passes folders, others don't. */
function stars(glob: string, start: number): { source: string; end: number } {
  let end = start;
  while (glob[end] === '*') end++;
  const opensPart = start === 0 || glob[start - 1] === '/';
  if (end - start < 2 || !opensPart) return { source: '[^/]*', end };
  if (end === glob.length) return { source: '.*', end };
  if (glob[end] === '/') return { source: '(?:.*/)?', end: end + 1 };
  return { source: '[^/]*', end };
}

function piece(glob: string, at: number, depth: number): { source: string; end: number; depth: number } {
  const character = String.fromCodePoint(glob.codePointAt(at) ?? 0);
  const next = at + character.length;
  if (character === '*') return { ...stars(glob, at), depth };
  if (character === '[') return { ...bracket(glob, at), depth };
  if (character === '?') return { source: '[^/]', end: next, depth };
  if (character === '{') return { source: '(?:', end: next, depth: depth + 1 };
  if (character === '}' && depth > 0) return { source: ')', end: next, depth: depth - 1 };
  if (character === ',' && depth > 0) return { source: '|', end: next, depth };
  if (character !== '\\') return { source: RE2JS.quote(character), end: next, depth };
  const escaped = glob.codePointAt(next);
  if (escaped === undefined) throw wrongGlob(glob, 'ends with a lone "\\\\"');
  const literal = String.fromCodePoint(escaped);
  return { source: RE2JS.quote(literal), end: next + literal.length, depth };
}

function compile(glob: string): RE2JS {
  let source = '';
  let depth = 0;
  for (let at = 0; at < glob.length; ) {
    const found = piece(glob, at, depth);
    source += found.source;
    depth = found.depth;
    at = found.end;
  }
  if (depth > 0) throw wrongGlob(glob, 'has a "{" without "}" (write "\\\\{" for the character)');
  try {
    return RE2JS.compile(source, RE2JS.DOTALL);
  } catch (error) {
    throw wrongGlob(glob, `can't be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/**
 * Reads a glob: `*` and `?` stay in one folder, `**` passes folders, `[a-z]`, `[!a]`, `{a,b}`, and `\` before a
 * character that stands for itself. Names that begin with a dot match like others. It is matched in linear time,
 * because it comes from a model. `glob` is relative to the workspace; a leading "./" and a trailing "/" are dropped.
 * Throws `invalid_argument`.
 */
export function parseGlob(glob: string): Glob {
  const trimmed = glob.replace(/^(?:\.\/+)+/, '').replace(/(?<!\/)\/+$/, '');
  const parts = trimmed.split('/').filter((part) => part !== '' && part !== '.');
  const wildcardAt = parts.findIndex((part) => WILDCARD.test(part));
  const literal = parts.join('/');
  if (wildcardAt < 0) {
    const isWithin = (path: string) => literal === '' || path === literal || path.startsWith(`${literal}/`);
    return { base: literal || '.', literal: literal || '.', matches: isWithin };
  }
  const pattern = compile(literal);
  return {
    base: parts.slice(0, wildcardAt).join('/') || '.',
    // A file may be named like a wildcard, such as "[id].tsx".
    matches: (path) => path === literal || pattern.testExact(path),
  };
}
