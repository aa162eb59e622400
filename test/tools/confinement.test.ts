import { execFileSync } from 'node:child_process';
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openWorkspace } from '../../packages/tools/src/index.ts';
import { locate } from '../../packages/tools/src/locate.ts';
import { type Found, openLocated, readLocated } from '../../packages/tools/src/open-file.ts';
import type { Workspace } from '../../packages/tools/src/workspace.ts';
import { bodyOf, headerOf, listed, makeWorkspace, quietContext, refusalOf } from './support.ts';

async function found(workspace: Workspace, path: string): Promise<Found> {
  const location = await locate(workspace, path);
  if (location.kind !== 'found') throw new Error(`${path} is ${location.kind}`);
  return location;
}

describe('paths out of the workspace', () => {
  it('refuses parent folders and absolute paths in every spelling', async () => {
    await using ws = await makeWorkspace({ 'docs/a.md': 'a' });
    const spellings = [
      '../outside/secret.txt',
      'docs/../../outside/secret.txt',
      './/..//outside/./secret.txt',
      '../ws/../outside/secret.txt',
      '..',
      '../',
      '/',
      '/etc/passwd',
      '//etc/passwd',
      join(ws.outside, 'secret.txt'),
      `${ws.root}/../outside/secret.txt`,
      `${ws.root}-other/secret.txt`,
      '/proc/self/environ',
      '/dev/zero',
    ];
    for (const path of spellings) {
      expect(await refusalOf(ws.read(path)), path).toMatchObject({ code: 'forbidden' });
    }
  });

  it('takes percent signs, backslashes and file URLs as plain file names', async () => {
    await using ws = await makeWorkspace({ '%2e%2e': 'percent', 'a%2fb.md': 'slash' });
    expect(bodyOf(await ws.read('%2e%2e'))).toBe('percent');
    expect(bodyOf(await ws.read('a%2fb.md'))).toBe('slash');
    for (const path of [
      '%2e%2e/outside/secret.txt',
      '..\\outside\\secret.txt',
      'file:///etc/passwd',
      '~/.profile',
    ]) {
      expect(await refusalOf(ws.read(path)), path).toMatchObject({ code: 'not_found' });
    }
  });

  it('accepts an absolute path inside, also by a name that is a link to the workspace', async () => {
    await using ws = await makeWorkspace({ 'docs/a.md': 'hello' });
    await symlink(ws.root, join(ws.outside, 'alias'));
    const byAlias = await openWorkspace({ root: join(ws.outside, 'alias'), deniedPaths: [] });
    expect(await locate(byAlias, join(ws.outside, 'alias/docs/a.md'))).toMatchObject({
      kind: 'found',
      path: 'docs/a.md',
      real: join(ws.root, 'docs/a.md'),
    });
    expect(headerOf(await ws.read(join(ws.root, 'docs', 'a.md')))).toBe(
      'docs/a.md · characters 0-5 of 5 · 5 bytes',
    );
  });

  it('refuses globs that leave the workspace', async () => {
    await using ws = await makeWorkspace({ 'a.md': 'a' });
    for (const glob of ['../**', 'docs/../../**', '/etc/*', '**/../*', `${ws.outside}/*`]) {
      expect(await refusalOf(ws.list({ glob })), glob).toMatchObject({ code: 'forbidden' });
      expect(await refusalOf(ws.search({ pattern: 'S', glob })), glob).toMatchObject({ code: 'forbidden' });
    }
  });
});

describe('links', () => {
  it('follows links that stay inside: to files, folders, in chains, relative and absolute', async () => {
    await using ws = await makeWorkspace({ 'docs/a.md': 'inside' });
    await symlink('docs/a.md', join(ws.root, 'file'));
    await symlink('docs', join(ws.root, 'folder'));
    await symlink('file', join(ws.root, 'chain'));
    await symlink(join(ws.root, 'docs'), join(ws.root, 'absolute'));
    await symlink(`../${relative(dirname(ws.root), ws.root)}/docs/a.md`, join(ws.root, 'around'));
    for (const path of ['file', 'folder/a.md', 'chain', 'absolute/a.md', 'around']) {
      expect(bodyOf(await ws.read(path)), path).toBe('inside');
    }
  });

  it('refuses links that leave, whether or not something is there', async () => {
    await using ws = await makeWorkspace({ 'docs/a.md': 'inside' });
    await symlink(join(ws.outside, 'secret.txt'), join(ws.root, 'file'));
    await symlink('../outside', join(ws.root, 'folder'));
    await symlink('file', join(ws.root, 'chain'));
    await symlink('..', join(ws.root, 'up'));
    await symlink('/', join(ws.root, 'slash'));
    await symlink(join(ws.outside, 'nothing'), join(ws.root, 'dangling'));
    const paths = [
      'file',
      'chain',
      'folder/secret.txt',
      'folder/nothing',
      'folder',
      'up/outside/secret.txt',
      'slash/etc/passwd',
      'slash/nothing',
      'dangling',
      'up',
      'slash',
    ];
    for (const path of paths) {
      const error = await refusalOf(ws.read(path));
      expect(error, path).toMatchObject({ code: 'forbidden' });
      expect(error.detail, path).toContain('leaves the workspace');
    }
  });

  it('ends on a loop of links', async () => {
    await using ws = await makeWorkspace();
    await symlink('b', join(ws.root, 'a'));
    await symlink('a', join(ws.root, 'b'));
    expect(await refusalOf(ws.read('a'))).toMatchObject({ code: 'forbidden' });
    expect(listed(await ws.list()).get('a')).toBe("link\t-> b (can't be read: too many links (ELOOP))");
  });
});

describe('what changes between check and open', () => {
  it('refuses a file that became a link', async () => {
    await using ws = await makeWorkspace({ 'a.md': 'inside' });
    const checked = await found(ws.workspace, 'a.md');
    await rm(join(ws.root, 'a.md'));
    await symlink(join(ws.outside, 'secret.txt'), join(ws.root, 'a.md'));
    expect(await refusalOf(openLocated(ws.workspace, checked))).toMatchObject({ code: 'unavailable' });
  });

  it('refuses a file whose folder became a link', async () => {
    await using ws = await makeWorkspace({ 'docs/secret.txt': 'inside' });
    const checked = await found(ws.workspace, 'docs/secret.txt');
    await rename(join(ws.root, 'docs'), join(ws.root, 'old'));
    await symlink(ws.outside, join(ws.root, 'docs'));
    expect(await refusalOf(openLocated(ws.workspace, checked))).toMatchObject({ code: 'forbidden' });
  });

  it('refuses a file whose folder became a link to a denied one', async () => {
    await using ws = await makeWorkspace({ 'docs/config': 'inside', '.git/config': 'token' });
    const checked = await found(ws.workspace, 'docs/config');
    await rename(join(ws.root, 'docs'), join(ws.root, 'old'));
    await symlink('.git', join(ws.root, 'docs'));
    expect(await refusalOf(openLocated(ws.workspace, checked))).toMatchObject({ code: 'forbidden' });
  });

  it('refuses a file that became a pipe, without waiting for its writer', async () => {
    await using ws = await makeWorkspace({ 'a.md': 'inside' });
    const checked = await found(ws.workspace, 'a.md');
    await rm(join(ws.root, 'a.md'));
    execFileSync('mkfifo', [join(ws.root, 'a.md')]);
    const reading = readLocated(ws.workspace, checked, quietContext().signal);
    expect(await refusalOf(reading)).toMatchObject({ code: 'forbidden' });
  });

  it('reads on when the file was replaced by a new one, as editors do', async () => {
    await using ws = await makeWorkspace({ 'a.md': 'old' });
    const checked = await found(ws.workspace, 'a.md');
    await writeFile(join(ws.root, 'new'), 'new');
    await rename(join(ws.root, 'new'), join(ws.root, 'a.md'));
    expect(String(await readLocated(ws.workspace, checked, quietContext().signal))).toBe('new');
  });
});

describe('what is no regular file', () => {
  it('refuses pipes, sockets and folders at once', async () => {
    await using ws = await makeWorkspace({ 'docs/a.md': 'a' });
    execFileSync('mkfifo', [join(ws.root, 'pipe')]);
    const server = createServer().listen(join(ws.root, 'socket'));
    await new Promise((resolve) => server.once('listening', resolve));
    try {
      expect(await refusalOf(ws.read('pipe'))).toMatchObject({ code: 'forbidden' });
      expect(await refusalOf(ws.read('socket'))).toMatchObject({ code: 'forbidden' });
      const folder = await refusalOf(ws.read('docs'));
      expect(folder).toMatchObject({ code: 'invalid_argument' });
      expect(folder.extras.next).toBe('list_files {"glob":"docs/**/*"}');
      expect(await refusalOf(ws.read('.'))).toMatchObject({ code: 'invalid_argument' });
      await mkdir(join(ws.root, '[id]'));
      expect((await refusalOf(ws.read('[id]'))).extras.next).toBe('list_files {"glob":"\\\\[id]/**/*"}');
      expect(listed(await ws.list()).get('pipe')).toBe("special\tnot a regular file: can't be read");
      expect(await ws.search({ pattern: '.' })).toBe('1 match in 1 file · 1 file searched\ndocs/a.md:1: a');
    } finally {
      server.close();
    }
  });
});

describe('what is closed to agents', () => {
  const closed = {
    '.env': 'KEY=1',
    '.env.local': 'KEY=2',
    'app/.envrc': 'KEY=3',
    'app/.npmrc': 'token',
    '.git/config': 'token',
    'app/.git/HEAD': 'ref',
    'home/.ssh/id_rsa': 'key',
    '.crewboard/keys.json': 'key',
  };

  it('refuses secrets and the data folder by every spelling', async () => {
    await using ws = await makeWorkspace({ ...closed, 'docs/a.md': 'a' });
    const spellings = [
      ...Object.keys(closed),
      'docs/../.env',
      '././/.env',
      `${ws.root}/.env`,
      '.git/../.git/config',
      '.GIT/config',
      'home/.SSH/id_rsa',
      '.Env',
      '.g\u200cit/config',
      '.CREWBOARD/keys.json',
      '.crewboard',
      '.git',
      '.env/',
    ];
    for (const path of spellings) {
      expect(await refusalOf(ws.read(path)), path).toMatchObject({ code: 'forbidden' });
    }
  });

  it('refuses them behind links, and answers the same whether they exist or not', async () => {
    await using ws = await makeWorkspace(closed);
    await symlink('.env', join(ws.root, 'plain.txt'));
    await symlink('.git', join(ws.root, 'repo'));
    await symlink('home', join(ws.root, 'alias'));
    await symlink('.crewboard', join(ws.root, 'data'));
    await symlink('.env.none', join(ws.root, 'none.txt'));
    const paths = [
      'plain.txt',
      'repo/config',
      'alias/.ssh/id_rsa',
      'data/keys.json',
      'none.txt',
      'repo/none',
    ];
    for (const path of paths) {
      const error = await refusalOf(ws.read(path));
      expect(error, path).toMatchObject({ code: 'forbidden' });
      expect(error.detail, path).toContain('closed to agents');
    }
  });

  it('never lists or searches them', async () => {
    await using ws = await makeWorkspace({ ...closed, 'docs/a.md': 'KEY token ref key' });
    await symlink('.env', join(ws.root, 'plain.txt'));
    expect([...listed(await ws.list()).keys()]).toEqual(['docs/a.md', 'plain.txt']);
    expect(listed(await ws.list()).get('plain.txt')).toBe("link\t(closed to agents: can't be read)");
    expect(await ws.search({ pattern: 'KEY|token|ref|key' })).toBe(
      '1 match in 1 file · 1 file searched\ndocs/a.md:1: KEY token ref key',
    );
    expect(await refusalOf(ws.list({ glob: '.git/**' }))).toMatchObject({ code: 'forbidden' });
    expect(await refusalOf(ws.search({ pattern: '.', glob: '.env' }))).toMatchObject({ code: 'forbidden' });
  });

  it('leaves names open that only look alike', async () => {
    await using ws = await makeWorkspace({
      '.gitignore': 'x',
      'env.md': 'y',
      '.github/a.yml': 'z',
      'a.env': 'w',
    });
    expect([...listed(await ws.list()).keys()]).toEqual(['.github/a.yml', '.gitignore', 'a.env', 'env.md']);
    expect(bodyOf(await ws.read('.gitignore'))).toBe('x');
  });
});

describe('opening a workspace', () => {
  it('refuses a missing folder, a file, a relative path and a folder inside a denied one', async () => {
    await using ws = await makeWorkspace({ 'a.md': 'a', '.crewboard/jobs/x': '' });
    const open = (root: string) =>
      refusalOf(openWorkspace({ root, deniedPaths: [join(ws.root, '.crewboard')] }));
    expect(await open(join(ws.root, 'none'))).toMatchObject({ code: 'invalid_argument' });
    expect(await open(join(ws.root, 'a.md'))).toMatchObject({ code: 'invalid_argument' });
    expect(await open('docs')).toMatchObject({ code: 'invalid_argument' });
    expect(await open(join(ws.root, '.crewboard', 'jobs'))).toMatchObject({ code: 'forbidden' });
  });

  it('keeps a data folder closed that is made only later and reached by a link', async () => {
    await using ws = await makeWorkspace();
    await symlink(ws.root, join(ws.outside, 'alias'));
    const workspace = await openWorkspace({
      root: ws.root,
      deniedPaths: [join(ws.outside, 'alias', 'data')],
    });
    await mkdir(join(ws.root, 'data'));
    await writeFile(join(ws.root, 'data', 'keys'), 'key');
    expect(await locate(workspace, 'data/keys')).toMatchObject({ kind: 'denied' });
  });
});
