import { execFileSync } from 'node:child_process';
import { readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createListFilesTool } from '../../packages/tools/src/index.ts';
import { headerOf, listed, makeWorkspace, quietContext, refusalOf } from './support.ts';

describe('list_files', () => {
  it('lists every file with its size, sorted by code point, whatever begins with a dot', async () => {
    await using ws = await makeWorkspace({
      'b.md': '22',
      'a/z.md': '1',
      'a.md': '',
      '.gitignore': 'x',
      'ﬀ.md': '',
      '😀.md': 'smile',
      '说明.md': '',
    });
    expect(await ws.list()).toBe(
      [
        '7 files',
        '.gitignore\t1\tbytes',
        'a.md\t0\tbytes',
        'a/z.md\t1\tbytes',
        'b.md\t2\tbytes',
        '说明.md\t0\tbytes',
        'ﬀ.md\t0\tbytes',
        '😀.md\t5\tbytes',
      ].join('\n'),
    );
  });

  it('matches globs: stars, folders, sets, alternatives, escapes', async () => {
    const names = [
      'a.md',
      'b.ts',
      'src/a.ts',
      'src/deep/b.tsx',
      'src/[id].tsx',
      'docs/x.md',
      'docs/.hidden.md',
      'a*b.md',
    ];
    await using ws = await makeWorkspace(Object.fromEntries(names.map((name) => [name, ''])));
    const match = async (glob: string) => [...listed(await ws.list({ glob })).keys()];
    expect(await match('*.md')).toEqual(['a*b.md', 'a.md']);
    expect(await match('**/*.md')).toEqual(['a*b.md', 'a.md', 'docs/.hidden.md', 'docs/x.md']);
    expect(await match('src/**')).toEqual(['src/[id].tsx', 'src/a.ts', 'src/deep/b.tsx']);
    expect(await match('src/**/b.*')).toEqual(['src/deep/b.tsx']);
    expect(await match('**/*.{ts,tsx}')).toEqual(['b.ts', 'src/[id].tsx', 'src/a.ts', 'src/deep/b.tsx']);
    expect(await match('src/[a-c].ts')).toEqual(['src/a.ts']);
    expect(await match('[!a].ts')).toEqual(['b.ts']);
    expect(await match('src/[id].tsx')).toEqual(['src/[id].tsx']);
    expect(await match('a\\*b.md')).toEqual(['a*b.md']);
    expect(await match('?.md')).toEqual(['a.md']);
    expect(await match('./src//*.ts')).toEqual(['src/a.ts']);
    expect(await match(`${ws.root}/docs/*`)).toEqual(['docs/.hidden.md', 'docs/x.md']);
  });

  it('takes the name of a folder as all in it, and of a file as that file', async () => {
    await using ws = await makeWorkspace({ 'docs/a.md': '', 'docs/deep/b.md': '', 'docsy.md': '' });
    expect([...listed(await ws.list({ glob: 'docs/' })).keys()]).toEqual(['docs/a.md', 'docs/deep/b.md']);
    expect([...listed(await ws.list({ glob: '.' })).keys()]).toHaveLength(3);
    expect(await ws.list({ glob: 'docsy.md' })).toBe('1 file\ndocsy.md\t0\tbytes');
    expect(await ws.list({ glob: 'none/*.md' })).toBe(
      '0 files · nothing matches "none/*.md"; "**/*.md" looks in every folder',
    );
  });

  it('says what is wrong with a glob', async () => {
    await using ws = await makeWorkspace({ 'a.md': '' });
    for (const glob of ['[a', '{a,b', 'a\\', '[z-a]*']) {
      expect(await refusalOf(ws.list({ glob })), glob).toMatchObject({ code: 'invalid_argument' });
    }
  });

  it('matches a hostile glob in linear time', async () => {
    await using ws = await makeWorkspace({ [`${'a'.repeat(200)}.md`]: '' });
    const glob = `${'*a'.repeat(100)}*b`;
    expect(headerOf(await ws.list({ glob }))).toMatch(/^0 files/);
  });
});

describe('list_files, bounds', () => {
  it('counts what it cuts', async () => {
    const names = Array.from({ length: 30 }, (_, at) => `f${String(at).padStart(2, '0')}.md`);
    await using ws = await makeWorkspace(Object.fromEntries(names.map((name) => [name, ''])));
    const answer = await ws.list({ limit: 10 });
    expect(headerOf(answer)).toBe('30 files · showing 10 of 30: narrow the glob, or raise limit up to 10000');
    expect([...listed(answer).keys()]).toEqual(names.slice(0, 10));
  });

  it('stops after a bounded number of entries and says so', async () => {
    const names = Array.from({ length: 30 }, (_, at) => `d${at % 3}/f${at}.md`);
    await using ws = await makeWorkspace(Object.fromEntries(names.map((name) => [name, ''])));
    const answer = await createListFilesTool(ws.workspace, 20).execute({}, quietContext());
    expect(headerOf(answer.content)).toContain('stopped after 20 entries');
    expect(listed(answer.content).size).toBeLessThanOrEqual(20);
  });

  it('stops when its signal is aborted', async () => {
    await using ws = await makeWorkspace({ 'a.md': '' });
    const stopped = createListFilesTool(ws.workspace).execute(
      {},
      quietContext(AbortSignal.abort(new Error('stopped'))),
    );
    await expect(stopped).rejects.toThrow('stopped');
  });
});

describe('list_files, what is no plain file', () => {
  it('shows links as the file they lead to, or says why they lead to none', async () => {
    await using ws = await makeWorkspace({ 'docs/a.md': 'four' });
    await symlink('docs/a.md', join(ws.root, 'l-file'));
    await symlink('docs', join(ws.root, 'l-folder'));
    await symlink('../outside/secret.txt', join(ws.root, 'l-out'));
    await symlink('nothing', join(ws.root, 'l-none'));
    expect(await ws.list()).toBe(
      [
        '1 file · 4 links and other entries',
        'docs/a.md\t4\tbytes',
        'l-file\t4\tbytes',
        'l-folder\tlink\t-> docs (a folder in the workspace)',
        'l-none\tlink\t-> nothing (nothing is there)',
        "l-out\tlink\t-> ../outside/secret.txt (outside the workspace: can't be read)",
      ].join('\n'),
    );
    expect([...listed(await ws.list({ glob: 'l-folder/**' })).keys()]).toEqual(['l-folder/a.md']);
    expect(await refusalOf(ws.list({ glob: 'l-out/**' }))).toMatchObject({ code: 'forbidden' });
  });

  it('shows names with line breaks, tabs and reordering marks as JSON, and others as they are', async () => {
    const names = ['a\nb.md', 'a\tb.md', 'a\u202eb.md', '"a".md', '👩‍🚀.md'];
    await using ws = await makeWorkspace(Object.fromEntries(names.map((name) => [name, ''])));
    const shown = [...listed(await ws.list()).keys()];
    expect(shown).toContain('"a\\u202eb.md"');
    expect(shown).toContain('👩‍🚀.md');
    const real = shown.map((name) => (name.startsWith('"') ? JSON.parse(name) : name));
    expect(real.sort()).toEqual(names.sort());
  });

  it('names folders that it cannot read', async () => {
    await using ws = await makeWorkspace({ 'a.md': '' });
    // Longer than a path may be: made step by step, it is there, but no path reaches its end, not even root's.
    const step = 'd'.repeat(250);
    const dig = `for (let i = 0; i < 20; i++) { fs.mkdirSync('${step}'); process.chdir('${step}'); }`;
    execFileSync(process.execPath, ['-e', dig], { cwd: ws.root });
    const answer = await ws.list();
    // Node can't remove such a folder.
    execFileSync('rm', ['-rf', step], { cwd: ws.root });
    expect(headerOf(answer)).toBe('1 file · 1 link or other entry');
    expect([...listed(answer).values()]).toEqual(['0\tbytes', "folder\tcan't be read: ENAMETOOLONG"]);
  });

  it('names files and folders whose names are not valid UTF-8', async () => {
    await using ws = await makeWorkspace();
    const bad = Buffer.concat([Buffer.from(`${ws.root}/bad`), Buffer.from([0xff])]);
    await writeFile(bad, '');
    execFileSync('sh', ['-c', 'mkdir "$(printf \'dir\\376\')"'], { cwd: ws.root });
    expect(await readdir(ws.root)).toHaveLength(2);
    const answer = await ws.list();
    expect(answer.isWellFormed()).toBe(true);
    expect(Object.fromEntries(listed(answer))).toEqual({
      'bad\ufffd': 'unreadable\tits name is not valid UTF-8',
      'dir\ufffd': "folder\tcan't be read: its name is not valid UTF-8",
    });
  });
});
