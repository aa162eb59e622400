import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';

/** What a JSON text that people write looks like by its lines. */
export interface JsonScan {
  /** Where the text stops being JSON, or has a key twice, and what is wrong there. */
  fault: string | undefined;
  /** The line of each key of the outermost object, from 1. */
  lineOfKey: ReadonlyMap<string, number>;
}

/** Above this size only the parser's own word is had: the scan serves files that people write. */
const CHARACTERS_MOST = 1_000_000;

/** What to write, by what the parser missed. */
const WORDS: Readonly<Record<string, string>> = {
  InvalidSymbol: 'JSON has no such word, and texts stand in double quotes',
  InvalidNumberFormat: 'this is no number of JSON',
  PropertyNameExpected: 'a key in double quotes must follow',
  ValueExpected: 'a value must follow',
  ColonExpected: 'a colon must follow the key',
  CommaExpected: 'a comma or a closing bracket must follow',
  CloseBraceExpected: 'a comma or } must follow',
  CloseBracketExpected: 'a comma or ] must follow',
  EndOfFileExpected: 'nothing may follow the end of the JSON',
  InvalidCommentToken: 'comments are not allowed',
  UnexpectedEndOfComment: 'comments are not allowed',
  UnexpectedEndOfString: 'this text does not end on its line',
  InvalidUnicode: 'a \\u in this text needs four hexadecimal digits',
  InvalidEscapeCharacter: 'a \\ in a text is written \\\\',
  InvalidCharacter: 'this text holds a character that JSON writes with a \\',
};

const lineAt = (text: string, at: number) => text.slice(0, at).split('\n').length;

/** What is wrong, where and what to write; the text itself is not repeated, as it may be a key. */
function faultOf(text: string, { error, offset }: ParseError): string {
  const place = `line ${lineAt(text, offset)}, column ${offset - text.lastIndexOf('\n', offset - 1)}`;
  if (text.startsWith("'", offset)) return `${place}: texts stand in double quotes`;
  if (text.startsWith('#', offset)) return `${place}: comments are not allowed`;
  const isTrailing = /,\s*$/.test(text.slice(Math.max(0, offset - 1000), offset));
  if (isTrailing && /^[}\]]/.test(text.slice(offset))) return `${place}: there is a comma too many before it`;
  const words = WORDS[printParseErrorCode(error)] ?? 'this is not JSON';
  return offset >= text.length ? `${place}: the file ends too early, ${words}` : `${place}: ${words}`;
}

/** Says of the first key that stands twice in its object: which of the two was meant, nobody knows. */
function repeatedIn(text: string, node: Node | undefined): string | undefined {
  const names = new Set<unknown>();
  for (const child of node?.children ?? []) {
    const [key] = child.type === 'property' ? (child.children ?? []) : [];
    if (key !== undefined && names.has(key.value))
      return `line ${lineAt(text, key.offset)}: this key stands twice`;
    if (key !== undefined) names.add(key.value);
    const deeper = repeatedIn(text, child);
    if (deeper !== undefined) return deeper;
  }
  return undefined;
}

function linesOf(text: string, root: Node | undefined): ReadonlyMap<string, number> {
  const keys = root?.type === 'object' ? (root.children ?? []) : [];
  return new Map(
    keys.flatMap(({ children }) =>
      children?.[0] === undefined ? [] : [[String(children[0].value), lineAt(text, children[0].offset)]],
    ),
  );
}

/** Looks over `text` for where it is not JSON, and for its keys. */
export function scanJson(text: string): JsonScan {
  const nothing = { fault: undefined, lineOfKey: new Map() };
  if (text.length > CHARACTERS_MOST) return nothing;
  try {
    const errors: ParseError[] = [];
    const root = parseTree(text, errors, { disallowComments: true });
    const [first] = errors;
    const fault = first === undefined ? repeatedIn(text, root) : faultOf(text, first);
    return { fault, lineOfKey: linesOf(text, root) };
  } catch (error) {
    // Nested deeper than the stack: its own schema refuses it.
    if (error instanceof RangeError) return nothing;
    throw error;
  }
}
