import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readingOf } from '../../packages/simulated-model/src/file-reads.ts';
import { countWords } from '../../packages/simulated-model/src/words.ts';
import { createReadFileTool, openWorkspace } from '../../packages/tools/src/index.ts';
import { conversationOf } from './conversations.ts';

const run = promisify(execFile);
const WC_ENV = { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8' };

function isGnuWc(): boolean {
  try {
    return execFileSync('wc', ['--version'], { env: WC_ENV }).toString().includes('GNU coreutils');
  } catch {
    return false;
  }
}

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'crewboard-wc-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

/** Words of each file's bytes by the real wc, all in one call. */
async function realWords(contents: readonly (string | Buffer)[]): Promise<number[]> {
  const names = contents.map((_, index) => join(dir, `${index}.txt`));
  await Promise.all(contents.map((content, index) => writeFile(names[index] ?? '', content)));
  // Two more names, so that wc always adds its total line and the columns are the same.
  const { stdout } = await run('wc', ['-w', ...names, '/dev/null', '/dev/null'], { env: WC_ENV });
  return stdout
    .split('\n')
    .slice(0, contents.length)
    .map((line) => Number(line.trim().split(' ')[0]));
}

const PLAIN: [string, string, number][] = [
  ['an empty file', '', 0],
  ['blanks only', ' \t\r\n\v\f', 0],
  ['no newline at the end', 'one two', 2],
  ['CRLF', 'one two\r\nthree\r\n', 3],
  ['a lone carriage return', 'a\rb', 2],
  ['Chinese without spaces', '你好世界', 1],
  ['an ideographic space', '你好\u3000世界', 2],
  ['emoji with joiners', '👩‍👩‍👧 🙂', 2],
  ['a no-break space', 'a\u00a0b', 2],
  ['a figure space', 'a\u2007b', 2],
  ['a narrow no-break space', 'a\u202fb', 2],
  ['a word joiner', 'a\u2060b', 2],
  ['a zero-width space within a word', 'a\u200bb', 1],
  ['a zero-width space alone', '\u200b', 1],
  ['next line (U+0085) within a word', 'a\u0085b', 1],
  ['next line (U+0085) alone', ' \u0085 ', 0],
  ['the line separator', 'a\u2028b \u2029', 1],
  ['control characters', '\u0001 \u001f a\u001cb \u007f', 1],
  ['a byte order mark', '\ufeff# Title', 2],
  ['a byte order mark alone', '\ufeff', 1],
  ['a real replacement character', 'a \ufffd b', 3],
  ['a private use character', '\ue000 \u{10fffd}', 2],
  ['noncharacters and unassigned ones', '\uffff \ufdd0 \u0378 a', 1],
  ['an Ogham space and a medium mathematical one', 'a\u1680b\u205fc', 3],
  ['a Mongolian vowel separator', 'a\u180eb', 1],
];

describe('countWords', () => {
  it.each(PLAIN)('counts %s', (_, text, words) => {
    expect(countWords(text)).toBe(words);
  });
});

/** Characters whose standing has not changed since Unicode 14, which is what glibc 2.36 knows. */
const settled = fc.oneof(
  fc.constantFrom(
    ...' \n\r\t\v\f\u00a0\u1680\u2000\u2007\u200a\u200b\u200d\u2028\u2029\u202f\u205f\u2060\u3000\u0085\ufeff\ufffd',
  ),
  fc.integer({ min: 1, max: 0x24f }).map((code) => String.fromCodePoint(code)),
  fc.integer({ min: 0x4e00, max: 0x9fff }).map((code) => String.fromCodePoint(code)),
  fc.integer({ min: 0x1f300, max: 0x1f64f }).map((code) => String.fromCodePoint(code)),
  fc.constantFrom('\u0378', '\uffff', '\ue000', '\u{10ffff}', '\u0301', '\u180e', '\u00ad', '\u061c'),
);
const texts = fc.array(fc.string({ unit: settled, maxLength: 60 }), { minLength: 20, maxLength: 40 });
const bytes = fc.array(
  fc.oneof(
    fc.uint8Array({ maxLength: 12 }).map((part) => Buffer.from(part)),
    fc
      .constantFrom('ff', 'fe', '00', 'c3', 'f09f98', 'e282', '20', 'eda080', 'c080')
      .map((hex) => Buffer.from(hex, 'hex')),
    fc.constantFrom('word ', ' ', '\n', '你好', '🙂').map((text) => Buffer.from(text)),
  ),
  { maxLength: 20 },
);

describe.runIf(isGnuWc())('against the real wc', () => {
  it.each(PLAIN)('agrees on %s', async (_, text, words) => {
    expect(await realWords([text])).toEqual([words]);
  });

  it('agrees on every text of characters that its Unicode knows', async () => {
    await fc.assert(
      fc.asyncProperty(texts, async (contents) => {
        expect(contents.map((text) => countWords(text))).toEqual(await realWords(contents));
      }),
      { numRuns: 60 },
    );
  });

  it('agrees on files of any bytes, as the real read_file shows them page by page', async () => {
    const tool = createReadFileTool(await openWorkspace({ root: dir, deniedPaths: [] }));
    const context = { signal: new AbortController().signal, toolUseId: 't', requestId: '0/t' };
    await fc.assert(
      fc.asyncProperty(bytes, fc.integer({ min: 2, max: 30 }), async (parts, limit) => {
        const content = Buffer.concat(parts);
        // A real U+FFFD next to broken bytes can't be told from a shown one.
        fc.pre(!content.includes('\ufffd'));
        const [words] = await realWords([content]);
        const exchanges = [];
        for (let turn = 0; turn < 500; turn++) {
          const reading = readingOf(conversationOf(exchanges), '0.txt');
          if (reading.state === 'whole') {
            expect(countWords(reading.text, reading)).toBe(words);
            return;
          }
          if (reading.state === 'failed') throw new Error(reading.reason);
          const input = { ...reading.next, limit };
          const { content: result } = await tool.execute(input, context);
          exchanges.push({ name: 'read_file', input, result, isError: false });
        }
        throw new Error('the file was never read to its end');
      }),
      { numRuns: 150 },
    );
  });
});
