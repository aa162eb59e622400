const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Where the string that begins at `from` ends: the place of its closing quote. */
function endOfString(json: Buffer, from: number): number {
  let at = from + 1;
  for (; at < json.length && json[at] !== QUOTE; at++) if (json[at] === BACKSLASH) at++;
  return at;
}

/** How many fields the objects of a JSON text have, as they are written: each has one colon that is in no string. */
function writtenFields(json: Buffer): number {
  let fields = 0;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === QUOTE) at = endOfString(json, at);
    else if (byte === COLON) fields++;
  }
  return fields;
}

/** How many fields the objects of a value have. Its depth is bounded by what reads it. */
function readFields(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const held: unknown[] = Array.isArray(value) ? value : Object.values(value);
  let fields = Array.isArray(value) ? 0 : held.length;
  for (const each of held) fields += readFields(each);
  return fields;
}

/** A list or an object that is being read: how far it is, and of an object which names it has had. */
interface Open {
  names?: Set<string>;
  at: string | number;
}

/** One name may be written in several ways: `a` is `\u0061`. */
const nameOf = (written: string) => (written.includes('\\') ? String(JSON.parse(`"${written}"`)) : written);

/** Where the first field stands for the second time. `json` is valid. */
function firstRepeated(json: Buffer): (string | number)[] {
  const open: Open[] = [];
  for (let at = 0, isName = false; at < json.length; at++) {
    const byte = json[at];
    const last = open.at(-1);
    if (byte === QUOTE) {
      const end = endOfString(json, at);
      if (isName && last?.names !== undefined) {
        last.at = nameOf(json.toString('utf8', at + 1, end));
        if (last.names.has(last.at)) return open.map((each) => each.at);
        last.names.add(last.at);
        isName = false;
      }
      at = end;
    } else if (byte === OPEN_OBJECT) {
      open.push({ names: new Set(), at: '' });
      isName = true;
    } else if (byte === OPEN_LIST) open.push({ at: 0 });
    else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      open.pop();
      isName = false;
    } else if (byte === COMMA && last !== undefined) {
      isName = last.names !== undefined;
      if (typeof last.at === 'number') last.at++;
    }
  }
  return [];
}

/**
 * The path of the first field of a JSON text that stands twice in its object, of which reading it drops all but the
 * last; undefined when there is none. `value`: what the text was read as. It counts first, as every body passes
 * through it: only where fields are missing from the value the text is read for their names.
 */
export function repeatedField(json: Buffer, value: unknown): (string | number)[] | undefined {
  return writtenFields(json) === readFields(value) ? undefined : firstRepeated(json);
}
