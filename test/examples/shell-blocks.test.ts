import { spawn, spawnSync } from 'node:child_process';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { readConfig } from '../../apps/cli/src/config.ts';
import { openTestFolder, type TestFolder } from '../cli/support/folder.ts';
import { CLI, startProcess, type TestProcess } from '../cli/support/processes.ts';
import { documentNames, readDocument, type ShellBlock, shellBlocks } from '../support/documents.ts';
import { EXAMPLES } from '../support/local-stack.ts';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });

const SCRIPT_WITHIN_MS = 150_000;
/** Where the pages say that the API is. */
const DOCUMENTED_URL = /http:\/\/(?:127\.0\.0\.1|localhost):7420/g;
const Ready = z.object({ url: z.string() });
const path = readConfig().childVariables.PATH ?? '';

function isInstalled(command: string): boolean {
  return spawnSync(command, ['--version'], { stdio: 'ignore' }).error === undefined;
}

const missing = ['bash', 'curl', 'jq'].filter((command) => !isInstalled(command));
const names = await documentNames();
const pages = await Promise.all(
  names.map(async (name) => ({ name, blocks: shellBlocks(await readDocument(name)) })),
);

/** One script of all blocks of a page, which says which of them it was in when it failed. */
function scriptOf(name: string, blocks: readonly ShellBlock[], url: string): string {
  const parts = blocks
    .filter(({ notRun }) => notRun === undefined)
    .map(({ line, text }) => `block='${name}:${line}'\n${text.replaceAll(DOCUMENTED_URL, url)}`);
  return [
    'set -Eeuo pipefail',
    `trap 'echo "FAILED in $block: $BASH_COMMAND" >&2' ERR`,
    ...parts,
    'echo ALL BLOCKS RAN',
  ].join('\n');
}

/** A folder as after `npm ci` in a checkout: examples, `npx crewboard`, and a `crewboard up` that runs. */
async function openCheckout() {
  const folder = await openTestFolder();
  const bin = join(folder.path, 'node_modules/.bin');
  await cp(EXAMPLES, join(folder.path, 'examples'), { recursive: true });
  await mkdir(bin, { recursive: true });
  const script = (name: string, text: string) =>
    writeFile(join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  await script('crewboard', `exec "${process.execPath}" "${CLI}" "$@"`);
  await script('npx', '[ "$1" = --no-install ] && shift\nexec "$@"');
  // A refusal counts as a failure here, as it would for the reader.
  await script('curl', `PATH="\${PATH#*:}" exec curl --fail-with-body "$@"`);
  const env = { PATH: `${bin}:${path}`, HOME: folder.path, LANG: 'C.UTF-8' };
  const up = startProcess([CLI, 'up', '--port', '0', '--json'], { cwd: folder.path, env });
  return { folder, env, up };
}

async function run(script: string, cwd: string, env: Record<string, string>) {
  const child = spawn('bash', ['-c', script], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const timer = setTimeout(() => child.kill('SIGKILL'), SCRIPT_WITHIN_MS);
  const how = await new Promise<number | string | null>((resolve) => {
    child.once('close', (code, signal) => resolve(signal ?? code));
  });
  clearTimeout(timer);
  return { how, output };
}

describe.skipIf(missing.length > 0)('the shell blocks of the pages', () => {
  let checkout: { folder: TestFolder; env: Record<string, string>; up: TestProcess };
  let url: string;

  beforeAll(async () => {
    checkout = await openCheckout();
    url = Ready.parse(await checkout.up.ready).url;
  });
  afterAll(async () => {
    checkout.up.child.kill('SIGINT');
    await checkout.up.ended;
    await checkout.folder[Symbol.asyncDispose]();
  });

  const runnable = pages.filter(({ blocks }) => blocks.some(({ notRun }) => notRun === undefined));
  it.each(runnable)('$name: every one does what it shows', async ({ name, blocks }) => {
    const { how, output } = await run(scriptOf(name, blocks, url), checkout.folder.path, checkout.env);
    expect(output).toMatch(/ALL BLOCKS RAN\n$/);
    expect(how).toBe(0);
  });
});

it('every shell block in all pages is run, but for those that say why not', () => {
  const left = pages.flatMap(({ name, blocks }) =>
    blocks.flatMap(({ line, notRun }) => (notRun === undefined ? [] : [`${name}:${line} ${notRun}`])),
  );
  for (const text of left) expect(text.length, text).toBeGreaterThan(20);
  expect(pages.flatMap(({ blocks }) => blocks).length).toBeGreaterThan(left.length);
});
