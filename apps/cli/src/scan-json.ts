/** What may come next in a JSON text. */
type Expected = 'value' | 'value of key' | 'value or ]' | 'key' | 'key or }' | ':' | 'comma' | 'end';

/** The lines of a JSON text on which something stands, from 1. */
export interface JsonScan {
  /** The first line and column where the text stops being JSON, and what is wrong there. */
  fault: string | undefined;
  /** The line of each key of the outermost object. */
  lineOfKey: ReadonlyMap<string, number>;
}

const TOKEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON allows none in a string
  /[{}[\],:]|"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"|(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?!\w)/y;
const BLANK = /[ \t\r\n]*/y;
/** Above this size only the parser's own word is had: the scan serves files that people write. */
const CHARACTERS_MOST = 1_000_000;

const lineAt = (text: string, at: number) => text.slice(0, at).split('\n').length;

/** What may come after a value. */
const afterValue = (open: readonly string[]): Expected => (open.length === 0 ? 'end' : 'comma');

function close(open: string[]): Expected {
  open.pop();
  return afterValue(open);
}

/** Takes one token, with what closes the objects and lists that are open; undefined when it may not stand there. */
function step(open: string[], expected: Expected, token: string): Expected | undefined {
  switch (expected) {
    case 'value':
    case 'value of key':
    case 'value or ]':
      if (token === '{' || token === '[') {
        open.push(token === '{' ? '}' : ']');
        return token === '{' ? 'key or }' : 'value or ]';
      }
      if (token === ']' && expected === 'value or ]') return close(open);
      return /^["\dtfn-]/.test(token) ? afterValue(open) : undefined;
    case 'key':
    case 'key or }':
      if (token.startsWith('"')) return ':';
      return token === '}' && expected === 'key or }' ? close(open) : undefined;
    case ':':
      return token === ':' ? 'value of key' : undefined;
    case 'comma':
      if (token === ',') return open.at(-1) === '}' ? 'key' : 'value';
      return token === open.at(-1) ? close(open) : undefined;
    case 'end':
      return undefined;
  }
}

/** What to write, by what may come next. */
const EXPECTED: Record<Expected, string> = {
  value: 'a value must follow',
  'value of key': 'a value must follow',
  'value or ]': 'a value or ] must follow',
  key: 'a key in double quotes must follow',
  'key or }': 'a key in double quotes or } must follow',
  ':': 'a colon must follow the key',
  comma: 'a comma or a closing bracket must follow',
  end: 'nothing may follow the end of the JSON',
};

/** What is wrong at `at`; the text itself is not repeated, as it may be a key. */
function faultAt(text: string, at: number, expected: Expected): string {
  const rest = text.slice(at, at + 2);
  const place = `line ${lineAt(text, at)}, column ${at - text.lastIndexOf('\n', at - 1)}`;
  if (rest === '//' || rest === '/*' || rest.startsWith('#')) return `${place}: comments are not allowed`;
  if (rest.startsWith("'")) return `${place}: texts stand in double quotes`;
  const isClosing = rest.startsWith('}') || rest.startsWith(']');
  if (isClosing && (expected === 'key' || expected === 'value'))
    return `${place}: there is a comma too many before it`;
  if (rest === '') return `${place}: the file ends too early, ${EXPECTED[expected]}`;
  if (rest.startsWith('"') && /^(?:value|key)/.test(expected))
    return `${place}: this text does not end on its line, or has a wrong \\ in it`;
  return `${place}: ${EXPECTED[expected]}`;
}

/** Looks over `text` for where it is not JSON, and for its keys. */
export function scanJson(text: string): JsonScan {
  const lineOfKey = new Map<string, number>();
  if (text.length > CHARACTERS_MOST) return { fault: undefined, lineOfKey };
  const open: string[] = [];
  let expected: Expected = 'value';
  for (let at = 0; ; ) {
    BLANK.lastIndex = at;
    at += BLANK.exec(text)?.[0].length ?? 0;
    if (expected === 'end' && at === text.length) return { fault: undefined, lineOfKey };
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(text)?.[0];
    const next: Expected | undefined = token === undefined ? undefined : step(open, expected, token);
    if (token === undefined || next === undefined) return { fault: faultAt(text, at, expected), lineOfKey };
    if (next === ':' && open.length === 1) lineOfKey.set(String(JSON.parse(token)), lineAt(text, at));
    expected = next;
    at += token.length;
  }
}
