import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readmeExample } from '../client/readme.ts';
import { run } from '../packed/command.ts';
import { checkTypes, PROGRAM } from '../packed/consumer.ts';
import { faultsOf, packAll } from '../packed/tarballs.ts';
import { start } from '../packed/up.ts';

/**
 * Packs every package as it stands after `npm run build`, installs the tarballs in an empty folder elsewhere, and uses
 * them there: the command line with and without a Redis on the PATH, the client in a plain Node program, the types in a
 * strict project. Ends with one line that says how it went.
 */
const root = fileURLToPath(new URL('../../', import.meta.url));
const say = (text: string) => process.stdout.write(`${text}\n`);
const begunMs = performance.now();
const folder = await mkdtemp(join(tmpdir(), 'crewboard-packed-'));
const home = join(folder, 'installed');
const crewboard = join(folder, 'bin', 'crewboard');
const examples = join(home, 'node_modules/@crewboard/cli/dist/examples');
const found: string[] = [];

function expect(isSo: boolean, fault: string): void {
  if (!isSo) found.push(fault);
}

async function check(name: string, body: () => Promise<void>): Promise<void> {
  const startMs = performance.now();
  const before = found.length;
  try {
    await body();
  } catch (error) {
    found.push(error instanceof Error ? error.message : String(error));
  }
  const how = found.length === before ? 'ok' : `FAILED\n  ${found.slice(before).join('\n  ')}`;
  say(`${name}: ${how} (${((performance.now() - startMs) / 1000).toFixed(1)} s)`);
}

/** A folder of its own to run in, as a user has one. */
async function openFolder(name: string): Promise<string> {
  const path = join(folder, name);
  await mkdir(path);
  return path;
}

async function install(): Promise<void> {
  const tarballs = await packAll(root, folder);
  expect(tarballs.length >= 11, `only ${tarballs.length} packages were packed`);
  await mkdir(home);
  await writeFile(join(home, 'package.json'), '{ "private": true, "type": "module" }');
  const flags = ['--no-audit', '--no-fund', '--prefer-offline'];
  await run('npm', ['install', ...flags, ...tarballs.map(({ file }) => file)], { cwd: home });
  for (const tarball of tarballs) {
    found.push(...(await faultsOf(tarball, join(home, 'node_modules', tarball.name))));
  }
  // As `npm install -g` puts it on the PATH.
  await mkdir(join(folder, 'bin'));
  await symlink(join(home, 'node_modules/@crewboard/cli/bin/crewboard.js'), crewboard);
  await symlink(process.execPath, join(folder, 'bin', 'node'));
}

async function version(): Promise<void> {
  const { version: wanted } = JSON.parse(await readFile(join(root, 'apps/cli/package.json'), 'utf8'));
  const byNpx = await run('npx', ['--no-install', 'crewboard', '--version'], { cwd: home });
  const byLink = await run(crewboard, ['--version'], { cwd: folder });
  expect(byNpx.trim() === wanted && byLink.trim() === wanted, `--version says ${byNpx} and ${byLink}`);
}

/** `up --example` to its end; then other jobs on the same server, from the command line and from a program. */
async function upWithRedis(): Promise<void> {
  const cwd = await openFolder('with-redis');
  await using up = start(crewboard, ['up', '--example', '--port', '0'], { cwd });
  const [, url = ''] = await up.says(/API +(http\S+)\/v1/);
  await up.says(/Runs until Ctrl-C/);
  expect(/succeeded: 18 of 18 tasks completed/.test(up.said()), `the example went so:\n${up.said()}`);
  expect(/Redis +\d/.test(up.said()), `no Redis from the PATH:\n${up.said()}`);
  const result = JSON.parse(
    await run(crewboard, ['run', join(examples, 'given-plan.json'), '--json'], { cwd }),
  );
  expect(result.status === 'succeeded', `crewboard run: ${JSON.stringify(result)}`);
  const key = (await readFile(join(cwd, '.crewboard/api-key'), 'utf8')).trim();
  await writeFile(join(home, 'program.js'), PROGRAM);
  const args = ['program.js', url, key, join(examples, 'docs-review.json')];
  const told = JSON.parse(await run(process.execPath, args, { cwd: home }));
  // The 18 tasks, and the lead's own.
  const wanted = { status: 'succeeded', completed: 19, lines: 18, pages: 17, code: 'terminal' };
  expect(
    JSON.stringify(told) === JSON.stringify(wanted),
    `the program with the client: ${JSON.stringify(told)}`,
  );
  await writeFile(
    join(home, 'readme.js'),
    await readmeExample(join(home, 'node_modules/@crewboard/client/README.md')),
  );
  const env = { CREWBOARD_URL: url, CREWBOARD_API_KEY: key };
  const example = await run(process.execPath, ['readme.js'], { cwd: home, env });
  expect(
    example.trimEnd().endsWith('succeeded: 2 of 2 tasks'),
    `the example of the client's README: ${example}`,
  );
  await up.stop();
}

async function upWithoutRedis(): Promise<void> {
  const cwd = await openFolder('without-redis');
  await using up = start(crewboard, ['up', '--example', '--port', '0'], { cwd, path: join(folder, 'bin') });
  await up.says(/Runs until Ctrl-C/);
  expect(/succeeded: 18 of 18 tasks completed/.test(up.said()), `the example went so:\n${up.said()}`);
  expect(/nothing survives|embedded/i.test(up.said()), `it does not say that it is embedded:\n${up.said()}`);
  await up.stop();
}

/** API and worker by hand, as on several machines, over the Redis of an `up`'s data folder: commands need no model. */
async function services(): Promise<void> {
  const cwd = await openFolder('services');
  const { startTestRedis } = await import('../support/redis-server.ts');
  const redis = await startTestRedis();
  const key = 'cb_packed-test-key-0123456789';
  const env = {
    REDIS_URL: redis.url,
    CREWBOARD_API_KEY: key,
    CREWBOARD_PORT: '0',
    CREWBOARD_COMMANDS: 'host',
    CREWBOARD_WORKSPACES: examples,
  };
  try {
    await using api = start(crewboard, ['api'], { cwd, env });
    await using worker = start(crewboard, ['worker'], { cwd, env });
    const [url] = await api.says(/http:\/\/127\.0\.0\.1:\d+/);
    const args = ['run', join(examples, 'commands.json'), '--json', '--url', url, '--key', key];
    const result = JSON.parse(await run(crewboard, args, { cwd }));
    expect(result.status === 'succeeded', `a job of commands: ${JSON.stringify(result)}\n${worker.said()}`);
    await worker.stop();
    await api.stop();
  } finally {
    await redis.stop();
  }
}

try {
  await check('pack and install', install);
  if (found.length === 0) {
    await check('version', version);
    await check('types of client and contracts', () => checkTypes(join(root, 'node_modules/.bin/tsc'), home));
    await check('up, run and a program, Redis from the PATH', upWithRedis);
    await check('up with the embedded Redis', upWithoutRedis);
    await check('api and worker', services);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
const seconds = Math.round((performance.now() - begunMs) / 1000);
say(
  found.length === 0
    ? `packed: everything works (${seconds} s)`
    : `packed: ${found.length} faults (${seconds} s)`,
);
if (found.length > 0) process.exitCode = 1;
