import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { openDataFolder, watchDataFolder } from '../../packages/orchestrator/src/data-folder.ts';

async function openFolder() {
  const path = await mkdtemp(join(tmpdir(), 'crewboard-data-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

const SOURCE = fileURLToPath(new URL('../../packages/orchestrator/src/data-folder.ts', import.meta.url));

/** Runs a program in a mount namespace of its own, after `mount` has made the folder that it is told of. */
async function mounted(folder: string, mount: string, program: string): Promise<string> {
  const code = `import { openDataFolder, watchDataFolder } from ${JSON.stringify(SOURCE)};\nconst folder = ${JSON.stringify(folder)};\n${program}`;
  const node = `exec "$0" --import tsx --conditions @crewboard/source --input-type=module --eval "$1"`;
  const args = ['-rm', 'sh', '-c', `${mount} && ${node}`, process.execPath, code];
  const root = fileURLToPath(new URL('../../', import.meta.url));
  return (await promisify(execFile)('unshare', args, { cwd: root })).stdout;
}
const canMount = await mounted('/', 'mount -t tmpfs tmpfs /mnt', '').then(
  () => true,
  () => false,
);

const REFUSAL =
  "await openDataFolder(folder).catch(({ code, detail }) => console.log(code + ': ' + detail));";

describe('the data folder at the start', () => {
  it('is made for its owner only, with those above it, and nothing is left in it', async () => {
    await using folder = await openFolder();
    const path = join(folder.path, 'a', 'b');
    await openDataFolder(path);
    await openDataFolder(path);
    expect((await stat(path)).mode & 0o777).toBe(0o700);
    expect(await readdir(path)).toEqual([]);
  });

  it.each([
    ['below a file', (path: string) => join(path, 'file', 'data'), 'ENOTDIR: not a directory'],
    ['that is a file', (path: string) => join(path, 'file'), 'EEXIST: file already exists'],
    ['in /proc', () => '/proc/crewboard', 'ENOENT: no such file or directory'],
    ['deep in /proc', () => '/proc/crewboard/a/b', 'ENOENT: no such file or directory'],
  ])('%s is refused by the name of its variable and the reason', async (_, pathIn, reason) => {
    await using folder = await openFolder();
    await writeFile(join(folder.path, 'file'), '');
    const path = pathIn(folder.path);
    await expect(openDataFolder(path)).rejects.toMatchObject({
      code: 'invalid_argument',
      detail: `CREWBOARD_DATA_DIR must name a folder that can be made and written to (${reason}): ${path}`,
    });
  });

  it.runIf(canMount).each([
    [
      'on a full disk',
      'size=4k',
      'printf %04096d 0 > "$D/full"',
      'unavailable',
      'ENOSPC: no space left on device',
    ],
    ['that is read-only', 'ro', 'true', 'invalid_argument', 'EROFS: read-only file system'],
  ])('%s is refused likewise', async (_, options, fill, code, reason) => {
    await using folder = await openFolder();
    const mount = `D=${folder.path} && mount -t tmpfs -o ${options} tmpfs "$D" && ${fill}`;
    expect(await mounted(folder.path, mount, REFUSAL)).toBe(
      `${code}: CREWBOARD_DATA_DIR must name a folder that can be made and written to (${reason}): ${folder.path}\n`,
    );
  });
});

describe('the data folder while the process runs', () => {
  it('is said to take no writes once it is gone, without its path, and to take them once it is back', async () => {
    await using folder = await openFolder();
    const away = `${folder.path}.away`;
    const clock = vi.spyOn(performance, 'now').mockReturnValue(0);
    try {
      const watch = watchDataFolder(folder.path);
      expect(await watch.trouble()).toBeUndefined();
      await rename(folder.path, away);
      // What was seen holds for a while.
      clock.mockReturnValue(2999);
      expect(await watch.trouble()).toBeUndefined();
      clock.mockReturnValue(3000);
      const trouble = await watch.trouble();
      expect(trouble).toMatch(/^data folder: it takes no writes \(ENOENT: no such file or directory\)/);
      expect(trouble).not.toContain(folder.path);
      await rename(away, folder.path);
      clock.mockReturnValue(6000);
      expect(await watch.trouble()).toBeUndefined();
      expect(await readdir(folder.path)).toEqual([]);
    } finally {
      clock.mockRestore();
    }
  });
});
