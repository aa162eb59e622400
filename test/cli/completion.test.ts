import { spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readConfig } from '../../apps/cli/src/config.ts';
import { runCli } from '../../apps/cli/src/program.ts';
import { ADMIN_KEY, openApp } from '../api/open-app.ts';
import { JOB_ID } from '../api/records.ts';
import { openTestFolder } from './support/folder.ts';
import { recordedTerminal } from './support/terminal.ts';

const path = readConfig().childVariables.PATH ?? '';
const has = (command: string) => spawnSync(command, ['--version']).error === undefined;

async function scriptFor(shell: string): Promise<string> {
  const terminal = recordedTerminal();
  expect(await runCli(['completion', shell], terminal, {})).toBe(0);
  return terminal.out();
}

/** A folder with the script, a job file, and a `crewboard` that knows one job. */
async function openShell(shell: string) {
  const folder = await openTestFolder();
  await writeFile(join(folder.path, 'script'), await scriptFor(shell));
  await writeFile(join(folder.path, 'job.json'), '{}');
  await mkdir(join(folder.path, 'bin'));
  const command = `#!/bin/sh\n[ "$1" = job-ids ] && echo ${JOB_ID}\n`;
  await writeFile(join(folder.path, 'bin/crewboard'), command, { mode: 0o755 });
  const env = { PATH: `${join(folder.path, 'bin')}:${path}`, HOME: folder.path };
  return {
    run: (text: string) =>
      spawnSync(shell, ['-c', text], { cwd: folder.path, env, encoding: 'utf8' }).stdout.trimEnd(),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

const CASES = [
  { line: ['bo'], offered: ['board'] },
  { line: ['board', '--form'], offered: ['--format'] },
  { line: ['board', '--format', ''], offered: ['plain', 'ansi', 'md', 'json'] },
  { line: ['board', '--format', 'md', ''], offered: [JOB_ID] },
  { line: ['watch', 'job'], offered: [JOB_ID] },
  { line: ['run', 'jo'], offered: ['job.json'] },
  { line: ['keys', ''], offered: ['add', 'ls', 'revoke'] },
  { line: ['keys', 'add', '--role', ''], offered: ['admin', 'submit', 'read', 'worker'] },
  { line: ['embed'], offered: [] },
];

test.skipIf(!has('bash'))('completes in bash', async () => {
  await using shell = await openShell('bash');
  const tries = CASES.map(({ line }) => {
    const words = ['crewboard', ...line].map((word) => `'${word}'`).join(' ');
    return `COMP_WORDS=(${words}); COMP_CWORD=${line.length}; _crewboard; echo "\${COMPREPLY[*]}"`;
  });
  const answers = shell.run(['. ./script', ...tries, 'echo end'].join('\n')).split('\n');
  expect(answers).toEqual([...CASES.map(({ offered }) => offered.join(' ')), 'end']);
});

test.skipIf(!has('fish'))('completes in fish', async () => {
  await using shell = await openShell('fish');
  for (const { line, offered } of CASES) {
    const answer = shell.run(`source ./script; complete -C 'crewboard ${line.join(' ')}'`);
    const words = answer === '' ? [] : answer.split('\n').map((each) => each.split('\t')[0]);
    expect(words.sort(), line.join(' ')).toEqual([...offered].sort());
  }
});

test.skipIf(!has('zsh'))('gives zsh a script that it can read', async () => {
  await using shell = await openShell('zsh');
  expect(shell.run('. ./script && echo "$_comps[crewboard]"')).toBe(
    '_bash_complete -o bashdefault -F _crewboard',
  );
});

test('prints job IDs for completion, and nothing when there is no server', async () => {
  await using app = await openApp();
  const terminal = recordedTerminal();
  await runCli(['job-ids', '--url', app.url, '--key', ADMIN_KEY], terminal, {});
  expect(terminal.out()).toBe(`${JOB_ID}\n`);
  const alone = recordedTerminal();
  expect(await runCli(['job-ids', '--url', 'http://127.0.0.1:1', '--key', 'x'], alone, {})).toBe(0);
  expect([alone.out(), alone.messages]).toEqual(['', []]);
});
