import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string) => readFile(join(root, path), 'utf8');
const linesOf = async (path: string) => (await read(path)).split('\n');

/** The instructions of one stage of the Dockerfile. */
async function stage(name: string): Promise<string[]> {
  const stages = (await read('Dockerfile')).split(/^(?=FROM )/m);
  const found = stages.find((text) => text.split('\n')[0]?.endsWith(` AS ${name}`));
  return found?.split('\n').filter((line) => /^[A-Z]/.test(line)) ?? [];
}

async function openFolder() {
  const path = await mkdtemp(join(tmpdir(), 'crewboard-docker-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

const filesBelow = async (path: string) => {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
};

describe('Dockerfile', () => {
  it('installs from the manifests before it has the sources, so that an edit keeps what is installed', async () => {
    const build = await stage('build');
    const at = (text: string) => build.findIndex((line) => line.startsWith(text));
    expect(at('COPY --from=manifests /app ./')).toBeGreaterThan(0);
    expect(at('RUN npm ci')).toBe(at('COPY --from=manifests') + 1);
    expect(at('COPY . .')).toBeGreaterThan(at('RUN npm ci'));
  });

  it('takes every manifest for that, and nothing else', async () => {
    await using folder = await openFolder();
    const manifests = await stage('manifests');
    for (const part of ['apps', 'packages']) {
      expect(manifests).toContain(`COPY ${part} ${part}`);
      const filter = (path: string) => !/node_modules|\/dist(\/|$)/.test(path);
      await cp(join(root, part), join(folder.path, part), { recursive: true, filter });
    }
    const before = await filesBelow(folder.path);
    const prune = manifests.find((line) => line.startsWith('RUN find'))?.slice('RUN '.length) ?? 'false';
    await run('sh', ['-c', prune], { cwd: folder.path });
    const kept = (await filesBelow(folder.path)).sort();
    expect(kept).toEqual(before.filter((path) => path.endsWith('/package.json')).sort());
    expect(kept.length).toBeGreaterThan(5);
    const left = await readdir(folder.path, { recursive: true });
    expect(left).not.toContain('apps/cli/src');
  });
});

describe('the documented start with Docker', () => {
  it('has the folder for jobs and all that Compose asks for, before anything is started', async () => {
    await using folder = await openFolder();
    const bin = join(folder.path, 'bin');
    await mkdir(bin);
    for (const [name, script] of [
      ['sudo', 'echo "$@" >> calls'],
      ['openssl', 'printf %048d 7'],
      ['docker', 'test -d workspaces && test -f .env && echo docker "$@" >> calls'],
    ] as const) {
      await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`);
      await chmod(join(bin, name), 0o755);
    }
    const block =
      /with Docker\n\n<!-- not run: [^\n]* -->\n```sh\n(.*?)```/s.exec(
        await read('docs/operations.md'),
      )?.[1] ?? 'false';
    await run('sh', ['-e', '-c', block], { cwd: folder.path, env: { PATH: `${bin}:/usr/bin:/bin` } });
    expect((await readFile(join(folder.path, 'calls'), 'utf8')).split('\n')).toEqual([
      'chown 1000:1000 workspaces',
      'docker compose up -d --build --scale worker=4',
      '',
    ]);
    const env = await readFile(join(folder.path, '.env'), 'utf8');
    expect(env).toMatch(/^CREWBOARD_API_KEY=\d{48}\nANTHROPIC_API_KEY=\S+\n$/);
    expect((await stat(join(folder.path, '.env'))).mode & 0o777).toBe(0o600);
    const asked = [...(await read('docker-compose.yml')).matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name);
    for (const name of asked) expect(env).toContain(`${name}=`);
  });

  it('keeps the keys and the work of jobs out of the image and of git', async () => {
    expect(await linesOf('.dockerignore')).toEqual(expect.arrayContaining(['**/.env*', 'workspaces']));
    expect(await linesOf('.gitignore')).toEqual(expect.arrayContaining(['.env', '.env.*', '/workspaces/']));
  });
});
