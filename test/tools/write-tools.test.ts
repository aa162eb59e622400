import { execFileSync } from 'node:child_process';
import {
  chmod,
  link,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  createEditFileTool,
  createFileLocks,
  createWorkTools,
  createWriteFileTool,
} from '../../packages/tools/src/index.ts';
import { atPlace } from '../../packages/tools/src/place.ts';
import { replaceFile } from '../../packages/tools/src/replace-file.ts';
import { makeWorkspace, quietContext, refusalOf } from './support.ts';

async function makeWritable(files: Record<string, string | Buffer> = {}) {
  const ws = await makeWorkspace(files);
  const locks = createFileLocks();
  const write = createWriteFileTool(ws.workspace, locks);
  const edit = createEditFileTool(ws.workspace, locks);
  const context = quietContext();
  return {
    ...ws,
    locks,
    write: async (path: string, content: string) => (await write.execute({ path, content }, context)).content,
    edit: async (path: string, find: string, replace: string) =>
      (await edit.execute({ path, find, replace }, context)).content,
    text: (path: string) => readFile(join(ws.root, path), 'utf8'),
  };
}

const modeOf = async (path: string) => ((await stat(path)).mode & 0o7777).toString(8);

describe('write_file', () => {
  it('writes a new file and the folders above it, unchanged', async () => {
    await using ws = await makeWritable();
    const content = 'a\r\nb\n\ufeffç👨‍👩‍👧';
    expect(await ws.write('new/deep/a.txt', content)).toBe(
      `new/deep/a.txt written · ${Buffer.byteLength(content)} bytes · a new file`,
    );
    expect(await ws.text('new/deep/a.txt')).toBe(content);
  });

  it('replaces a whole file, keeps its mode, and leaves no other file behind', async () => {
    await using ws = await makeWritable({ 'run.sh': 'old' });
    await chmod(join(ws.root, 'run.sh'), 0o4751);
    expect(await ws.write('run.sh', 'newer')).toBe('run.sh written · 5 bytes · in place of 3 bytes');
    expect(await ws.text('run.sh')).toBe('newer');
    expect(await modeOf(join(ws.root, 'run.sh'))).toBe('751');
    expect(await readdir(ws.root)).toEqual(['run.sh']);
  });

  it('gives a file that others read either its old or its new content', async () => {
    const [a, b] = ['a'.repeat(500_000), 'b'.repeat(600_000)];
    await using ws = await makeWritable({ 'a.txt': a });
    const writing = (async () => {
      for (let i = 0; i < 20; i++) await ws.write('a.txt', i % 2 === 0 ? b : a);
      return 'over';
    })();
    let reads = 0;
    while ((await Promise.race([writing, ws.text('a.txt')])) !== 'over' || reads === 0) {
      const text = await ws.text('a.txt');
      expect([a, b]).toContain(text);
      reads++;
    }
    expect(reads).toBeGreaterThan(0);
  });

  it('writes through a link that stays inside, and keeps the link', async () => {
    await using ws = await makeWritable({ 'real/a.txt': 'a' });
    await symlink('real/a.txt', join(ws.root, 'link.txt'));
    await symlink('real', join(ws.root, 'folder'));
    await ws.write('link.txt', 'by link');
    expect([await ws.text('real/a.txt'), await readlink(join(ws.root, 'link.txt'))]).toEqual([
      'by link',
      'real/a.txt',
    ]);
    await ws.write('folder/b.txt', 'by folder');
    expect(await ws.text('real/b.txt')).toBe('by folder');
  });

  it('parts a hard link from what it was linked with', async () => {
    await using ws = await makeWritable();
    await link(join(ws.outside, 'secret.txt'), join(ws.root, 'hard.txt'));
    await ws.write('hard.txt', 'changed');
    expect(await readFile(join(ws.outside, 'secret.txt'), 'utf8')).toBe('SECRET');
  });

  it.each([
    ['../outside/secret.txt'],
    ['/etc/crewboard-test'],
    ['.env'],
    ['new/.env.local'],
    ['.git/hooks/pre-commit'],
    ['deep/.ssh/authorized_keys'],
    ['.npmrc'],
    ['.GIT/config'],
    ['.crewboard/api-key'],
    ['out/secret.txt'],
    ['out/new.txt'],
    ['dangling'],
    ['dangling-folder/a.txt'],
    ['pipe'],
  ])('refuses %s as forbidden and changes nothing', async (path) => {
    await using ws = await makeWritable({ 'deep/a.txt': 'a' });
    await symlink(ws.outside, join(ws.root, 'out'));
    await symlink('nowhere', join(ws.root, 'dangling'));
    await symlink('../outside/nowhere', join(ws.root, 'dangling-folder'));
    execFileSync('mkfifo', [join(ws.root, 'pipe')]);
    expect(await refusalOf(ws.write(path, 'x'))).toMatchObject({ code: 'forbidden' });
    expect(await readdir(ws.root)).toEqual(['dangling', 'dangling-folder', 'deep', 'out', 'pipe']);
    expect(await readdir(ws.outside)).toEqual(['secret.txt']);
    expect(await readFile(join(ws.outside, 'secret.txt'), 'utf8')).toBe('SECRET');
  });

  it('refuses a folder, and a file as a folder', async () => {
    await using ws = await makeWritable({ 'docs/a.md': 'a' });
    for (const path of ['docs', '.', 'docs/']) {
      expect(await refusalOf(ws.write(path, 'x')), path).toMatchObject({ code: 'invalid_argument' });
    }
    expect(await refusalOf(ws.write('docs/a.md/b.md', 'x'))).toMatchObject({ code: 'invalid_argument' });
    expect(await ws.text('docs/a.md')).toBe('a');
  });

  it('refuses more than 2 MiB, with the limit', async () => {
    await using ws = await makeWritable();
    expect(await refusalOf(ws.write('a.txt', 'é'.repeat(1_100_000)))).toMatchObject({
      code: 'payload_too_large',
      extras: { limitBytes: 2_097_152 },
    });
    expect(await readdir(ws.root)).toEqual([]);
  });

  it('refuses a lone surrogate, which has no bytes', async () => {
    await using ws = await makeWritable();
    const { inputSchema } = createWriteFileTool(ws.workspace, ws.locks);
    expect(inputSchema.safeParse({ path: 'a', content: 'a\ud800' }).success).toBe(false);
  });

  it('puts nothing outside when the folder is swapped for a link all the while', async () => {
    await using ws = await makeWritable();
    const [folder, kept] = [join(ws.root, 'folder'), join(ws.root, 'kept')];
    await mkdir(folder);
    const swapping = new AbortController();
    const swap = (async () => {
      while (!swapping.signal.aborted) {
        await rename(folder, kept);
        // In between the tool may make the folder itself.
        await symlink(ws.outside, folder).catch(() => {});
        await rm(folder, { recursive: true, force: true });
        await rename(kept, folder).catch(() => {});
        for (let i = 0; i < 5; i++) await mkdir(folder, { recursive: true });
      }
    })();
    let written = 0;
    for (let i = 0; i < 150; i++) {
      const answer = await ws.write('folder/secret.txt', `${i}`).catch(() => undefined);
      if (answer !== undefined) written++;
    }
    swapping.abort();
    await swap;
    expect(written).toBeGreaterThan(0);
    expect(await readdir(ws.outside)).toEqual(['secret.txt']);
    expect(await readFile(join(ws.outside, 'secret.txt'), 'utf8')).toBe('SECRET');
  });
});

describe('edit_file', () => {
  it('replaces the one place and nothing else', async () => {
    await using ws = await makeWritable({ 'a.ts': 'one\ntwo\nthree\n' });
    await chmod(join(ws.root, 'a.ts'), 0o600);
    expect(await ws.edit('a.ts', 'two\n', '$& $1\n')).toBe('a.ts edited at line 2 · 16 bytes now');
    expect(await ws.text('a.ts')).toBe('one\n$& $1\nthree\n');
    expect(await modeOf(join(ws.root, 'a.ts'))).toBe('600');
    await ws.edit('a.ts', 'one\n', '');
    expect(await ws.text('a.ts')).toBe('$& $1\nthree\n');
  });

  it('leaves bytes that are no UTF-8 as they are', async () => {
    const bytes = Buffer.concat([Buffer.of(0xff, 0xfe, 0), Buffer.from('find me'), Buffer.of(0xc3)]);
    await using ws = await makeWritable({ 'a.bin': bytes });
    await ws.edit('a.bin', 'find', 'found');
    expect(await readFile(join(ws.root, 'a.bin'))).toEqual(
      Buffer.concat([Buffer.of(0xff, 0xfe, 0), Buffer.from('found me'), Buffer.of(0xc3)]),
    );
  });

  it('takes find exactly, line ends too, and says when they are of the other kind', async () => {
    await using ws = await makeWritable({ 'dos.txt': 'a\r\nb\r\nc\r\n', 'unix.txt': 'a\nb\n' });
    await ws.edit('dos.txt', 'a\r\nb', 'a\r\nB');
    expect(await ws.text('dos.txt')).toBe('a\r\nB\r\nc\r\n');
    const dos = await refusalOf(ws.edit('dos.txt', 'B\nc', 'x'));
    expect(dos).toMatchObject({ code: 'invalid_argument', detail: expect.stringContaining('end with CRLF') });
    const unix = await refusalOf(ws.edit('unix.txt', 'a\r\nb', 'x'));
    expect(unix.detail).toContain('end with LF alone');
    expect(await ws.text('dos.txt')).toBe('a\r\nB\r\nc\r\n');
  });

  it('changes nothing when find stands there never or several times, and says how often and where', async () => {
    await using ws = await makeWritable({ 'a.txt': 'aaa\nb\nb\n' });
    const never = await refusalOf(ws.edit('a.txt', 'c', 'x'));
    expect(never).toMatchObject({ code: 'invalid_argument', detail: expect.stringContaining('0 times') });
    const often = await refusalOf(ws.edit('a.txt', 'b\n', 'x'));
    expect(often.detail).toContain('2 times in a.txt (lines 2, 3)');
    expect((await refusalOf(ws.edit('a.txt', 'aa', 'x'))).detail).toContain('2 times');
    expect((await refusalOf(ws.edit('a.txt', 'b', 'b'))).detail).toContain('are the same');
    expect(await ws.text('a.txt')).toBe('aaa\nb\nb\n');
  });

  it('refuses what is not there or closed', async () => {
    await using ws = await makeWritable({ '.env': 'a' });
    expect(await refusalOf(ws.edit('a.txt', 'a', 'b'))).toMatchObject({ code: 'not_found' });
    expect(await refusalOf(ws.edit('.env', 'a', 'b'))).toMatchObject({ code: 'forbidden' });
    expect(await refusalOf(ws.edit('../outside/secret.txt', 'S', 'b'))).toMatchObject({ code: 'forbidden' });
  });

  it('loses none of many edits at once, also by other tools of the process and other names', async () => {
    const lines = Array.from({ length: 40 }, (_, i) => `line-${i}-`);
    await using ws = await makeWritable({ 'a.txt': lines.join('\n') });
    await symlink('a.txt', join(ws.root, 'link.txt'));
    const other = createEditFileTool(ws.workspace, ws.locks);
    await Promise.all(
      lines.map((line, i) =>
        i % 2 === 0
          ? ws.edit('a.txt', line, `${line}done`)
          : other.execute({ path: 'link.txt', find: line, replace: `${line}done` }, quietContext()),
      ),
    );
    expect(await ws.text('a.txt')).toBe(lines.map((line) => `${line}done`).join('\n'));
  });

  it.each(['a.txt', 'new.txt'])(
    'does not overwrite %s when another process wrote it meanwhile',
    async (path) => {
      await using ws = await makeWritable({ 'a.txt': 'as it was' });
      const replacing = atPlace(ws.workspace, path, { makeFolders: true }, async (place) => {
        await writeFile(join(ws.root, path), 'by another');
        await replaceFile(place, Buffer.from('mine'));
      });
      expect(await refusalOf(replacing)).toMatchObject({ code: 'unavailable' });
      expect(await ws.text(path)).toBe('by another');
      expect((await readdir(ws.root)).filter((name) => name.includes('tmp'))).toEqual([]);
    },
  );

  it.skipIf(process.getuid?.() === 0)('refuses a file that may not be written', async () => {
    await using ws = await makeWritable({ 'a.txt': 'a' });
    await chmod(join(ws.root, 'a.txt'), 0o444);
    expect(await refusalOf(ws.edit('a.txt', 'a', 'b'))).toMatchObject({ code: 'forbidden' });
  });
});

describe('the work tools of a job', () => {
  it('come in one order, none that was not named, and are not read-only when they write', async () => {
    await using ws = await makeWritable();
    const options = {
      workspace: ws.workspace,
      locks: ws.locks,
      commands: { run: async () => Promise.reject(new Error('not run')), mode: 'sandbox' },
    } as const;
    const tools = createWorkTools(options, [
      'run_command',
      'edit_file',
      'search_files',
      'write_file',
      'list_files',
      'read_file',
    ]);
    expect(tools.map(({ name, readOnly }) => [name, readOnly])).toEqual([
      ['read_file', true],
      ['list_files', true],
      ['search_files', true],
      ['write_file', false],
      ['edit_file', false],
      ['run_command', false],
    ]);
    expect(createWorkTools(options, ['write_file']).map(({ name }) => name)).toEqual(['write_file']);
    const { workspace, locks } = options;
    expect(createWorkTools({ workspace, locks }, ['run_command'])).toEqual([]);
  });
});
