import { spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readConfig } from '../../apps/cli/src/config.ts';
import { runCli } from '../../apps/cli/src/program.ts';
import { ADMIN_KEY, openApp } from '../api/open-app.ts';
import { JOB_ID, TASK_ID } from '../api/records.ts';
import { openTestFolder } from './support/folder.ts';
import { recordedTerminal } from './support/terminal.ts';

const path = readConfig().childVariables.PATH ?? '';
const has = (command: string) => spawnSync(command, ['--version']).error === undefined;

async function scriptFor(shell: string): Promise<string> {
  const terminal = recordedTerminal();
  expect(await runCli(['completion', shell], terminal, {})).toBe(0);
  return terminal.out();
}

/** A folder with the script, a job file, and a `crewboard` that knows one job with one task. */
async function openShell(shell: string) {
  const folder = await openTestFolder();
  await writeFile(join(folder.path, 'script'), await scriptFor(shell));
  await writeFile(join(folder.path, 'job.json'), '{}');
  await mkdir(join(folder.path, 'bin'));
  const command = `#!/bin/sh
[ "$1" = job-ids ] && echo ${JOB_ID}
[ "$1" = task-ids ] && [ "$2" = ${JOB_ID} ] && echo ${TASK_ID}
`;
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
  { line: ['help', 'bo'], offered: ['board'] },
  { line: ['help', 'keys', ''], offered: ['add', 'ls', 'revoke'] },
  { line: ['help', 'why', ''], offered: [] },
  { line: ['why', JOB_ID, ''], offered: [TASK_ID] },
  { line: ['why', '--json', JOB_ID, 't_'], offered: [TASK_ID] },
  { line: ['transcript', JOB_ID, ''], offered: [TASK_ID] },
  { line: ['why', 'job_222222222222', ''], offered: [] },
  { line: ['steer', JOB_ID, 'Go on', '--task', ''], offered: [TASK_ID] },
  { line: ['rerun', JOB_ID, '--status', ''], offered: ['completed', 'failed', 'cancelled'] },
];

/** `--flag=value`, as bash takes it apart; zsh and fish leave it whole. */
const VALUES = [
  { whole: ['board', '--format=m'], apart: ['board', '--format', '=', 'm'], offered: ['md'] },
  { whole: ['board', '--by='], apart: ['board', '--by', '='], offered: ['parent', 'status'] },
  {
    whole: ['board', '--by=status', 'job'],
    apart: ['board', '--by', '=', 'status', 'job'],
    offered: [JOB_ID],
  },
];

test.skipIf(!has('bash'))('completes in bash', async () => {
  await using shell = await openShell('bash');
  const lines = [...CASES.map(({ line }) => line), ...VALUES.map(({ apart }) => apart)];
  const tries = lines.map((line) => {
    const words = ['crewboard', ...line].map((word) => `'${word}'`).join(' ');
    return `COMP_WORDS=(${words}); COMP_CWORD=${line.length}; _crewboard; echo "\${COMPREPLY[*]}"`;
  });
  const answers = shell.run(['. ./script', ...tries, 'echo end'].join('\n')).split('\n');
  expect(answers).toEqual([...[...CASES, ...VALUES].map(({ offered }) => offered.join(' ')), 'end']);
});

test.skipIf(!has('fish'))('completes in fish', async () => {
  await using shell = await openShell('fish');
  const wholes = VALUES.map(({ whole: line, offered }) => ({ line, offered }));
  for (const { line, offered } of [...CASES, ...wholes]) {
    const typed = line.map((word) => word.replace(' ', '\\ ')).join(' ');
    const answer = shell.run(`source ./script; complete -C 'crewboard ${typed}'`);
    const words = answer === '' ? [] : answer.split('\n').map((each) => each.split('\t')[0]);
    const flag = /--\w+=(?=\w*$)/.exec(typed)?.[0] ?? '';
    expect(words.sort(), typed).toEqual(offered.map((word) => flag + word).sort());
  }
});

test.skipIf(!has('bash'))('offers a file whose name has a blank as one', async () => {
  await using shell = await openShell('bash');
  const words = '. ./script; touch "my file.json"; COMP_WORDS=(crewboard run my); COMP_CWORD=2; _crewboard';
  expect(shell.run(`${words}; echo "\${#COMPREPLY[@]} \${COMPREPLY[0]}"`)).toBe('1 my file.json');
});

test.skipIf(!has('zsh'))('completes in zsh', async () => {
  await using shell = await openShell('zsh');
  const lines = [...CASES, ...VALUES.map(({ whole: line, offered }) => ({ line, offered }))];
  const tries = lines.map(({ line }) => {
    const words = ['crewboard', ...line].map((word) => `'${word}'`).join(' ');
    const ask = `compgen -F _crewboard -- '${line.at(-1)}'`;
    return `COMP_WORDS=(${words}); COMP_CWORD=${line.length}; echo $(${ask})`;
  });
  const answers = shell.run(['. ./script', ...tries, 'echo end'].join('\n')).split('\n');
  expect(answers.at(lines.length)).toBe('end');
  for (const [at, { line, offered }] of lines.entries()) {
    const typed = line.at(-1) ?? '';
    const flag = /^--\w+=/.exec(typed)?.[0] ?? '';
    // zsh itself leaves out what does not begin as was typed.
    const kept = answers[at]?.split(' ').filter((word) => word !== '' && word.startsWith(typed));
    expect(kept, line.join(' ')).toEqual(offered.map((word) => flag + word));
  }
});

test.skipIf(!has('zsh'))('gives zsh a script that it can read', async () => {
  await using shell = await openShell('zsh');
  expect(shell.run('. ./script && echo "$_comps[crewboard]"')).toBe(
    '_bash_complete -o bashdefault -F _crewboard',
  );
});

test('prints the task IDs of a job for completion, and nothing for what is none', async () => {
  await using app = await openApp();
  const idsOf = async (...args: string[]) => {
    const terminal = recordedTerminal();
    expect(await runCli(['task-ids', ...args, '--url', app.url, '--key', ADMIN_KEY], terminal, {})).toBe(0);
    expect(terminal.messages).toEqual([]);
    return terminal.out();
  };
  expect(await idsOf(JOB_ID)).toBe(`${TASK_ID}\n`);
  expect([await idsOf(), await idsOf('nothing'), await idsOf('job_222222222222')]).toEqual(['', '', '']);
});

test('completes in silence when the configuration is broken', async () => {
  const terminal = recordedTerminal();
  expect(await runCli(['job-ids'], terminal, { CREWBOARD_PORT: 'many' })).toBe(0);
  expect([terminal.out(), terminal.messages]).toEqual(['', []]);
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
