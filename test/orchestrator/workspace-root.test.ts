import { mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkWorkspace } from '../../packages/orchestrator/src/workspace-root.ts';

/** A folder with the given folders in it; disposing removes it. */
async function folders(...paths: string[]) {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'crewboard-roots-')));
  for (const path of paths) await mkdir(join(root, path), { recursive: true });
  return {
    root,
    check: (path: string, roots = [root]) => checkWorkspace(join(root, path), roots, join(root, 'data')),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
}

const CLOSED = ['a/.git', 'a/.GIT/hooks', '.ssh', 'a/.npmrc/b', '.env', 'a/.env.d/b/c'];

describe('a workspace', () => {
  it.each(CLOSED)('is refused at %s, which is closed to agents', async (path) => {
    await using made = await folders(path);
    await expect(made.check(path)).rejects.toMatchObject({
      code: 'invalid_argument',
      extras: { path: 'workspace.path' },
      detail: expect.stringContaining('closed to agents'),
    });
  });

  it('is refused when a link leads to what is closed, however it is called', async () => {
    await using made = await folders('a/.git/hooks');
    await symlink(join(made.root, 'a/.git/hooks'), join(made.root, 'open'));
    await expect(made.check('open')).rejects.toMatchObject({ code: 'invalid_argument' });
  });

  it('may lie beside what is closed, and have a name that only resembles it', async () => {
    await using made = await folders('a/.git', 'a/.github', 'a/git');
    for (const path of ['a', 'a/.github', 'a/git']) {
      expect(await made.check(path)).toBe(join(made.root, path));
    }
  });

  it('may lie below a root that the operator chose under such a name', async () => {
    await using made = await folders('.env-tests/ws', '.env-tests/.git');
    const root = join(made.root, '.env-tests');
    expect(await made.check('.env-tests/ws', [root, made.root])).toBe(join(root, 'ws'));
    await expect(made.check('.env-tests/.git', [root])).rejects.toMatchObject({ code: 'invalid_argument' });
  });
});
