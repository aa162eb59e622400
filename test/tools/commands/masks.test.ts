import { execFileSync } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { refusalOf } from '../support.ts';
import { type CommandWorkspace, HAS_BUBBLEWRAP, makeCommandWorkspace } from './support.ts';

/** A program that goes down through `levels` folders, with `each` done in all of them. */
function goingDown(name: string, levels: number, each: string): string {
  return `node -e "
    const fs = require('fs');
    for (let level = 0; level < ${levels}; level++) {
      fs.mkdirSync('${name}', { recursive: true });
      process.chdir('${name}');
      ${each}
    }"`;
}

/** Node can't remove what has too long a path. */
const removeAll = (ws: CommandWorkspace) => execFileSync('rm', ['-rf', ws.root]);

describe.skipIf(!HAS_BUBBLEWRAP)('folders with too long a path', () => {
  // The ends fall on each side of what fits.
  it.each([255, 200, 199, 97])(
    'stop no later command, and show nothing that is closed: names of %i bytes',
    async (bytes) => {
      await using ws = await makeCommandWorkspace('sandbox', { 'open.txt': 'open', 'a/.env': 'SECRET' });
      const name = 'x'.repeat(bytes);
      const levels = Math.ceil(6000 / bytes);
      const made = await ws.run(
        goingDown(name, levels, "fs.writeFileSync('.env', 'SECRET'); fs.writeFileSync('a', 'x');"),
      );
      expect(made).toMatchObject({ exitCode: 0 });
      const looked = await ws.run(
        `cat open.txt a/.env; ${goingDown(name, levels, "try { console.log(fs.readFileSync('.env', 'utf8')) } catch {}")}; ls`,
      );
      removeAll(ws);
      expect(looked).toMatchObject({ exitCode: 0, output: expect.stringMatching(/^open/) });
      expect(looked.output).not.toContain('SECRET');
      expect(looked.output).toContain(name);
    },
  );

  it('leave the upper part of their way to later commands', async () => {
    await using ws = await makeCommandWorkspace('sandbox');
    const name = 'x'.repeat(200);
    await ws.run(goingDown(name, 30, ''));
    expect(await ws.run(`echo new >${name}/a && cat ${name}/a`)).toMatchObject({ output: 'new\n' });
    removeAll(ws);
  });
});

describe.skipIf(!HAS_BUBBLEWRAP)('a workspace with too much that is closed', () => {
  it('is refused with the folder that has most of it', async () => {
    await using ws = await makeCommandWorkspace('sandbox', { 'b/.env': '', 'a/.env': '' });
    const folder = join(ws.root, 'many\nlines');
    await mkdir(folder);
    for (let number = 0; number < 2100; number++) await writeFile(join(folder, `.env${number}`), '');
    const { detail } = await refusalOf(ws.run('true'));
    expect(detail).toContain('more than 2000 entries that are closed to agents, most of them in ');
    expect(detail).toContain('many\\nlines');
    await rm(folder, { recursive: true });
    expect(await ws.run('true')).toMatchObject({ exitCode: 0 });
  });
});
