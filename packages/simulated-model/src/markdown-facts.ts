import { countWords } from './words.ts';

/** What a page review reports of one file. */
export interface PageFacts {
  file: string;
  title: string;
  words: number;
  headings: number;
  links: number;
  codeBlocks: number;
}

// A fence may stand in a list item or a quote, so any indent, list mark and ">" may come before it.
const FENCE = /^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+)?(`{3,}(?=[^`]*$)|~{3,})/;
const CLOSING_FENCE = /^[\s>]*(`{3,}|~{3,})\s*$/;
const HEADING = /^ {0,3}#{1,6}(?:[ \t]+(.*))?$/;
const DEFINITION = /^ {0,3}\[([^[\]]{1,1000})\]:\s*\S/;

const CODE_SPAN = /(?<!`)(`+)(?!`)(?:(?!\n[ \t]*\n)[\s\S]){1,5000}?(?<!`)\1(?!`)/g;
const IMAGE = /!\[[^[\]]{0,1000}\](?:\([^()\n]{0,2000}\)|\[[^[\]]{0,1000}\])/g;
const AUTOLINK =
  /<(?:[a-z][a-z0-9+.-]{1,31}:[^\s<>]{0,2000}|[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8})>/gi;
const TARGET = String.raw`\(\s{0,9}(?:<[^<>\n]{0,2000}>|(?:[^\s()<]|\([^\s()]{0,500}\)){0,2000})(?:\s{1,9}(?:"[^"]{0,1000}"|'[^']{0,1000}'|\([^()]{0,1000}\)))?\s{0,9}\)`;
const LINK = new RegExp(
  String.raw`(?<!\\)\[((?:[^[\]]|\[[^[\]]{0,200}\]){1,1000})\](?:(${TARGET})|\[([^[\]]{0,1000})\])?`,
  'g',
);

interface Prose {
  lines: string[];
  codeBlocks: number;
}

/** Takes the fenced blocks out. A block that is never closed reaches to the end, as in CommonMark. */
function withoutFences(text: string): Prose {
  const lines: string[] = [];
  let codeBlocks = 0;
  let open: string | null = null;
  for (const line of text.split(/\r\n|\n|\r/)) {
    if (open !== null) {
      const close = CLOSING_FENCE.exec(line)?.[1];
      if (close?.startsWith(open)) open = null;
      continue;
    }
    const fence = FENCE.exec(line)?.[1];
    if (fence === undefined) {
      lines.push(line);
      continue;
    }
    open = fence;
    codeBlocks++;
  }
  return { lines, codeBlocks };
}

function normalLabel(label: string): string {
  return label.trim().replaceAll(/\s+/g, ' ').toLowerCase();
}

/** Counts links outside code: inline ones, references with a definition, and autolinks; not images. */
function countLinks(lines: readonly string[]): number {
  const labels = new Set<string>();
  const prose: string[] = [];
  for (const line of lines) {
    const label = DEFINITION.exec(line)?.[1];
    if (label === undefined) prose.push(line);
    else labels.add(normalLabel(label));
  }
  const text = prose.join('\n').replaceAll(CODE_SPAN, 'code').replaceAll(IMAGE, 'image');
  let links = text.match(AUTOLINK)?.length ?? 0;
  LINK.lastIndex = 0;
  for (let found = LINK.exec(text); found !== null; found = LINK.exec(text)) {
    const [, inner = '', target, label] = found;
    if (target !== undefined || labels.has(normalLabel(label || inner))) links++;
    // Brackets that are no link may hold one.
    else LINK.lastIndex = found.index + 1;
  }
  return links;
}

/** The text of a heading without the closing sequence of "#" that it may have. */
function headingText(raw: string): string {
  const text = raw.trim();
  let end = text.length;
  while (text[end - 1] === '#') end--;
  return end === 0 || /[ \t]/.test(text.charAt(end - 1)) ? text.slice(0, end).trim() : text;
}

/**
 * Computes the facts of a Markdown file from its whole text. `title` is the first ATX heading, else the file's
 * name; `replaced` says that U+FFFD in the text stands for bytes that are no text.
 */
export function pageFacts(path: string, text: string, { replaced = false } = {}): PageFacts {
  const { lines, codeBlocks } = withoutFences(text.startsWith('\ufeff') ? text.slice(1) : text);
  const headings = lines.flatMap((line) => {
    const found = HEADING.exec(line);
    return found === null ? [] : [headingText(found[1] ?? '')];
  });
  const fileName = path.split('/').at(-1) ?? path;
  return {
    file: path,
    title: Array.from(headings[0] || fileName)
      .slice(0, 200)
      .join(''),
    words: countWords(text, { replaced }),
    headings: headings.length,
    links: countLinks(lines),
    codeBlocks,
  };
}
