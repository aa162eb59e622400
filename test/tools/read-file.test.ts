import { appendFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createReadFileTool } from '../../packages/tools/src/index.ts';
import { bodyOf, headerOf, makeWorkspace, quietContext, refusalOf } from './support.ts';

describe('read_file', () => {
  it('answers a header and the file as it is, with CRLF and a byte order mark', async () => {
    const text = '\ufeff# Title\r\n\r\nBody\r\n';
    await using ws = await makeWorkspace({ 'docs/a.md': text });
    const answer = await ws.read('./docs//a.md');
    expect(headerOf(answer)).toBe('docs/a.md · characters 0-18 of 18 · 20 bytes');
    expect(bodyOf(answer)).toBe(text);
  });

  it('answers an empty file with an empty body', async () => {
    await using ws = await makeWorkspace({ 'empty.md': '' });
    expect(await ws.read('empty.md')).toBe('empty.md · characters 0-0 of 0 · 0 bytes\n');
  });

  it('cuts a file of 200 KB at 50,000 characters and goes on from the offset in the header', async () => {
    const text = Array.from({ length: 20_000 }, (_, at) => `line ${at % 1000}\n`).join('');
    await using ws = await makeWorkspace({ 'large.txt': text });
    expect(text.length).toBeGreaterThan(170_000);
    let joined = '';
    for (let offset = 0; offset < text.length; ) {
      const answer = await ws.read('large.txt', { offset });
      const page = /characters (\d+)-(\d+) of (\d+)/.exec(headerOf(answer));
      expect(page?.[1]).toBe(String(offset));
      expect(page?.[3]).toBe(String(text.length));
      expect(bodyOf(answer).length).toBeLessThanOrEqual(50_000);
      joined += bodyOf(answer);
      offset = Number(page?.[2]);
    }
    expect(joined).toBe(text);
  });

  it('joins pages of any size to the exact text and never splits a character', async () => {
    await using ws = await makeWorkspace();
    const character = fc.constantFrom('a', '\n', '\r\n', 'é', '你', '😀', '👩‍🚀', '\ufffd');
    const text = fc.array(character, { maxLength: 60 }).map((parts) => parts.join(''));
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 20 }), async (content, limit) => {
        await writeFile(join(ws.root, 'page.md'), content);
        let joined = '';
        let offset = 0;
        do {
          const answer = await ws.read('page.md', { offset, limit });
          expect(answer.isWellFormed()).toBe(true);
          const end = Number(/characters \d+-(\d+) of/.exec(headerOf(answer))?.[1]);
          expect(end > offset || content === '').toBe(true);
          joined += bodyOf(answer);
          offset = end;
        } while (offset < content.length);
        expect(joined).toBe(content);
      }),
      { numRuns: 60 },
    );
  });

  it('joins pages of a fixed step, too, when the step falls within a pair', async () => {
    await using ws = await makeWorkspace({ 'a.md': 'a😀😀b😀' });
    const bodies = [];
    for (let offset = 0; offset < 8; offset += 2)
      bodies.push(bodyOf(await ws.read('a.md', { offset, limit: 2 })));
    expect(bodies).toEqual(['a', '😀', '😀b', '😀']);
  });

  it('answers an empty page at the end and refuses an offset beyond it', async () => {
    await using ws = await makeWorkspace({ 'a.md': 'abc' });
    expect(await ws.read('a.md', { offset: 3 })).toBe('a.md · characters 3-3 of 3 · 3 bytes\n');
    const error = await refusalOf(ws.read('a.md', { offset: 4 }));
    expect(error).toMatchObject({ code: 'invalid_argument', extras: { path: 'offset' } });
    expect(error.detail).toContain('has 3 characters');
  });
});

describe('read_file, odd bytes and names', () => {
  it('shows wrong UTF-8 as U+FFFD and counts only what the file did not hold itself', async () => {
    const bytes = Buffer.concat([
      Buffer.from('fine \ufffd '),
      Buffer.from([0xff, 0xfe]),
      Buffer.from(' e\u00e9 '.repeat(20)),
    ]);
    await using ws = await makeWorkspace({ 'odd.txt': bytes });
    const answer = await ws.read('odd.txt');
    expect(bodyOf(answer)).toBe(bytes.toString('utf8'));
    expect(headerOf(answer)).toMatch(/ · not valid UTF-8: 2 wrong sequences shown as U\+FFFD$/);
  });

  it('shows NUL as U+FFFD and says that a file of many looks binary', async () => {
    await using ws = await makeWorkspace({
      'one.txt': `a\0${'b'.repeat(100)}`,
      'utf16.txt': Buffer.from('hello', 'utf16le'),
      'case5.bin': Buffer.from([0xff, 0xfe, 0x00]),
    });
    const one = await ws.read('one.txt');
    expect(bodyOf(one)).toBe(`a\ufffd${'b'.repeat(100)}`);
    expect(headerOf(one)).toBe('one.txt · characters 0-102 of 102 · 102 bytes · 1 NUL byte shown as U+FFFD');
    expect(headerOf(await ws.read('utf16.txt'))).toContain(' · looks like a binary file');
    expect(await ws.read('case5.bin')).toBe(
      'case5.bin · characters 0-3 of 3 · 3 bytes · not valid UTF-8: 2 wrong sequences shown as U+FFFD' +
        ' · 1 NUL byte shown as U+FFFD · looks like a binary file\n\ufffd\ufffd\ufffd',
    );
  });

  it('reads names with emoji, Chinese, spaces and line breaks, and keeps the header one line', async () => {
    const names = ['🚀 start.md', '文档/说明.md', ' a  b .md', 'a\nb.md', 'tab\there.md', '"quoted".md'];
    await using ws = await makeWorkspace(Object.fromEntries(names.map((name) => [name, `in ${name}`])));
    for (const name of names) {
      const answer = await ws.read(name);
      expect(answer.endsWith(` bytes\nin ${name}`), name).toBe(true);
    }
    expect(headerOf(await ws.read('a\nb.md'))).toMatch(/^"a\\nb\.md" · characters/);
    expect(headerOf(await ws.read('文档/说明.md'))).toMatch(/^文档\/说明\.md · characters/);
  });
});

describe('read_file, refusals', () => {
  it('names near paths when a file is missing', async () => {
    await using ws = await makeWorkspace({
      'docs/board.md': '',
      'docs/boards.md': '',
      'src/x.ts': '',
      '.env': '',
    });
    const misspelt = await refusalOf(ws.read('docs/bord.md'));
    expect(misspelt).toMatchObject({
      code: 'not_found',
      extras: { nearest: ['docs/board.md', 'docs/boards.md'] },
    });
    expect((await refusalOf(ws.read('board.md'))).extras.nearest?.[0]).toBe('docs/board.md');
    expect((await refusalOf(ws.read('nothing-like-it'))).extras.nearest).toBeUndefined();
    expect((await refusalOf(ws.read('docs/board.md/below'))).code).toBe('not_found');
    expect((await refusalOf(ws.read('"docs/board.md"'))).detail).toContain('in double quotes is JSON');
  });

  it('refuses a file over 32 MB with the limit', async () => {
    await using ws = await makeWorkspace({ 'huge.log': '' });
    await truncate(join(ws.root, 'huge.log'), 32 * 1024 * 1024);
    await appendFile(join(ws.root, 'huge.log'), 'x');
    expect(await refusalOf(ws.read('huge.log'))).toMatchObject({
      code: 'payload_too_large',
      extras: { limitBytes: 33_554_432 },
    });
  });

  it('stops when its signal is aborted', async () => {
    await using ws = await makeWorkspace({ 'a.md': 'a' });
    const stopped = createReadFileTool(ws.workspace).execute(
      { path: 'a.md' },
      quietContext(AbortSignal.abort(new Error('stopped'))),
    );
    await expect(stopped).rejects.toThrow('stopped');
  });
});
