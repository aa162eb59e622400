import { readFileSync } from 'node:fs';

/**
 * Puts a script together from its own file and the libraries it names, so that what Redis runs at each call is small:
 * Lua makes every function of a chunk anew each time, and looks each outer name up that a function uses. So constants
 * and key names become literals, and only what the script reaches is taken.
 */

const folder = new URL('../src/lua/', import.meta.url);

/** Comments out, and string literals untouched, by one pattern that sees both. */
const TOKENS = /'(?:[^'\\\n]|\\.)*'|--[^\n]*|\b[A-Za-z_]\w*\b/g;

function readLua(name: string): string {
  const text = readFileSync(new URL(`${name}.lua`, folder), 'utf8');
  const bare = text.replace(TOKENS, (token) => (token.startsWith('--') ? '' : token));
  return bare.replace(/[ \t]+$/gm, '').replace(/\n{2,}/g, '\n');
}

/** One top-level `local` of a library: a function, a table, a variable. */
interface Item {
  name: string;
  text: string;
  uses: Set<string>;
}

function wordsOf(text: string): Set<string> {
  return new Set((text.match(TOKENS) ?? []).filter((token) => !token.startsWith("'")));
}

/** Takes the constants (`local A, B = 1, 2`) out of a text into `constants`; returns the rest. */
function takeConstants(text: string, constants: Map<string, string>): string {
  return text.replace(/^local ([A-Z][A-Z_, ]*) = (\d[\d, ]*)$/gm, (_, names: string, values: string) => {
    const numbers = values.split(', ');
    for (const [i, name] of names.split(', ').entries()) constants.set(name, numbers[i] ?? 'nil');
    return '';
  });
}

/** Splits a library at its top-level statements, each of which begins with `local` in the first column. */
function itemsOf(text: string): Item[] {
  return text
    .split(/^(?=local )/m)
    .filter((part) => part.trim() !== '')
    .map((part) => ({
      name: /^local (?:function )?(\w+)/.exec(part)?.[1] ?? '',
      text: part.trimEnd(),
      uses: wordsOf(part),
    }));
}

/** The items that a script reaches, in their order. */
function reached(script: string, items: readonly Item[]): Item[] {
  const wanted = wordsOf(script);
  const byName = new Map(items.map((item) => [item.name, item]));
  const taken = new Set<Item>();
  // A set grows while it is walked: each taken item's words are looked at in turn.
  for (const word of wanted) {
    const item = byName.get(word);
    if (item === undefined || taken.has(item)) continue;
    taken.add(item);
    for (const used of item.uses) wanted.add(used);
  }
  return items.filter((item) => taken.has(item));
}

/**
 * The same script for several calls at once: ARGV is the number of arguments of one call, then those of each. Answers
 * one reply a call, in order; each call sees what the ones before it did.
 */
function forMany(script: string): string {
  return `local function one(ARGV)
${script}
end
batch = {}
local width, replies = tonumber(ARGV[1]), {}
for at = 2, #ARGV, width do
  local arguments = {}
  for i = 1, width do arguments[i] = ARGV[at + i - 1] end
  replies[#replies + 1] = one(arguments)
end
end_batch()
return replies`;
}

/**
 * The text of a script. `keys` are the names of its keys in the order of KEYS; a name that is not among them, in a
 * library function that this script never calls, becomes nil. `many`: the form that takes several calls at once.
 */
export function linkScript(
  name: string,
  libraries: readonly string[],
  keys: readonly string[],
  many = false,
): string {
  const constants = new Map<string, string>();
  const items = libraries.flatMap((library) => itemsOf(takeConstants(readLua(`lib/${library}`), constants)));
  const script = takeConstants(readLua(name), constants);
  const body = many ? forMany(script) : script;
  const text = [...reached(body, items).map((item) => item.text), body].join('\n');
  return text.replace(TOKENS, (token) => {
    const key = /^([a-z]+)Key$/.exec(token)?.[1];
    if (key === undefined) return constants.get(token) ?? token;
    const at = keys.indexOf(key);
    return at < 0 ? 'nil' : `KEYS[${at + 1}]`;
  });
}
