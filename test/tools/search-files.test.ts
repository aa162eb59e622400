import { truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSearchFilesTool } from '../../packages/tools/src/index.ts';
import { headerOf, makeWorkspace, quietContext, refusalOf } from './support.ts';

describe('search_files', () => {
  it('answers path, line number and text of each matching line', async () => {
    await using ws = await makeWorkspace({
      'b.md': 'one\r\ntwo lease\r\n',
      'a/说明.md': 'Lease 😀\n\nno\n',
      'c.ts': 'const leaseMs = 1;',
    });
    expect(await ws.search({ pattern: '(?i)lease\\b' })).toBe(
      '2 matches in 2 files · 3 files searched\na/说明.md:1: Lease 😀\nb.md:2: two lease',
    );
    expect(await ws.search({ pattern: '^\\w+ lease$', glob: '*.md' })).toBe(
      '1 match in 1 file · 1 file searched\nb.md:2: two lease',
    );
    expect(await ws.search({ pattern: 'absent' })).toBe('0 matches in 0 files · 3 files searched');
  });

  it('stops at its limit and says that there is more', async () => {
    await using ws = await makeWorkspace({ 'a.md': 'x\n'.repeat(5), 'b.md': 'x\n' });
    const cut = await ws.search({ pattern: 'x', limit: 3 });
    expect(cut.split('\n')).toHaveLength(4);
    expect(headerOf(cut)).toContain('stopped at 3 matches, there are more');
    expect(headerOf(await ws.search({ pattern: 'x', limit: 6 }))).toBe(
      '6 matches in 2 files · 2 files searched',
    );
  });

  it('cuts long lines around the match without splitting a character', async () => {
    const line = `${'😀'.repeat(400)}needle${'😀'.repeat(400)}`;
    await using ws = await makeWorkspace({ 'a.txt': line });
    const [, row = ''] = (await ws.search({ pattern: 'needle' })).split('\n');
    expect(row.isWellFormed()).toBe(true);
    expect(row).toContain('needle');
    expect(row.length).toBeLessThanOrEqual('a.txt:1: '.length + 302);
    const [, start = ''] = (await ws.search({ pattern: '^.' })).split('\n');
    expect(start).toBe(`a.txt:1: ${'😀'.repeat(150)}…`);
  });
});

describe('search_files, patterns', () => {
  it('answers patterns that hang a backtracking engine', async () => {
    await using ws = await makeWorkspace({ 'a.txt': `${'a'.repeat(50_000)}!\n`.repeat(3) });
    for (const pattern of ['^(a+)+$', '(a|aa)+$', '(.*a){20}b', '(?:a?){300}a{300}b']) {
      expect(headerOf(await ws.search({ pattern })), pattern).toMatch(
        /^0 matches in 0 files · 1 file searched/,
      );
    }
  });

  it('says which part of an overlong line an expensive pattern was tried on', async () => {
    await using ws = await makeWorkspace({ 'a.txt': `${'a'.repeat(60_000)}z` });
    expect(await ws.search({ pattern: 'a{400}z' })).toMatch(
      /^0 matches .* · 1 long line searched in the first \d+ characters only$/,
    );
    expect(headerOf(await ws.search({ pattern: 'az$' }))).toBe('1 match in 1 file · 1 file searched');
  });

  it('refuses patterns that are wrong, unsupported or too large', async () => {
    await using ws = await makeWorkspace({ 'a.md': 'a' });
    for (const pattern of ['(', '(?=a)b', '(a)\\1', '\\pL{1000}'.repeat(50), '[z-a]']) {
      const error = await refusalOf(ws.search({ pattern }));
      expect(error, pattern).toMatchObject({ code: 'invalid_argument', extras: { path: 'pattern' } });
    }
  });
});

describe('search_files, bounds', () => {
  it('leaves out binary and very large files and says so', async () => {
    await using ws = await makeWorkspace({ 'a.md': 'x', 'b.bin': 'x\0', 'c.log': 'x' });
    await truncate(join(ws.root, 'c.log'), 33 * 1024 * 1024);
    expect(await ws.search({ pattern: 'x' })).toBe(
      '1 match in 1 file · 2 files searched · 1 binary file left out' +
        ' · 1 file or folder not read: c.log (over 33554432 bytes)\na.md:1: x',
    );
  });

  it('keeps to its bounds of bytes and time and says so', async () => {
    const files = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`f${at}.md`, 'y'.repeat(1000)]));
    await using ws = await makeWorkspace({ ...files, 'slow.md': 'y\n'.repeat(500_000) });
    const bytes = createSearchFilesTool(ws.workspace, { bytes: 5000, ms: 60_000 });
    const byBytes = await bytes.execute({ pattern: 'x', glob: 'f*.md' }, quietContext());
    expect(byBytes.content).toContain('5 files searched · stopped after 5000 bytes');
    const ms = createSearchFilesTool(ws.workspace, { bytes: 1_000_000_000, ms: 1 });
    const byTime = await ms.execute({ pattern: 'x', glob: 'slow.md' }, quietContext());
    expect(byTime.content).toContain('stopped after 1 ms');
  });

  it('lets timers run while it searches, and stops when its signal is aborted', async () => {
    // Read in a moment, but matched for most of a second, line by line.
    await using ws = await makeWorkspace({ 'slow.md': `y${'ab'.repeat(10_000)}\n`.repeat(500) });
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(new Error('stopped')), 50);
    const search = createSearchFilesTool(ws.workspace).execute(
      { pattern: '[ab]{500}y' },
      quietContext(controller.signal),
    );
    await expect(search).rejects.toThrow('stopped');
    clearTimeout(timer);
  });
});
