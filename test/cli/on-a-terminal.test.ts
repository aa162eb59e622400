import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../apps/cli/src/config.ts';
import { ADMIN_KEY, openApp } from '../api/open-app.ts';
import { aJob, anEvent, aTask, JOB_ID, TASK_ID } from '../api/records.ts';
import { openTestFolder } from './support/folder.ts';
import { CLI } from './support/processes.ts';
import { HAS_PTY, openPty } from './support/pty.ts';

const ENTERED = '\u001b[?1049h';
const LEFT = '\u001b[?1049l';
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const CTRL_Z = '\u001a';

const env = () => ({ PATH: readConfig().childVariables.PATH ?? '', TERM: 'xterm-256color' });

/** An app with a job that has a task and a lead. */
async function openWatched() {
  const app = await openApp();
  app.fake.tasks = [aTask(), aTask({ id: 't_22222222', number: 0 })];
  return app;
}

const crewboard = (url: string, ...args: string[]) =>
  [process.execPath, CLI, ...args, '--url', url, '--key', ADMIN_KEY].join(' ');

describe.runIf(HAS_PTY)('on a terminal', () => {
  test.each([
    { name: 'q', key: 'q' },
    { name: 'Ctrl-C', key: CTRL_C },
  ])('watch is left by $name, with the terminal as it was', async ({ key }) => {
    await using app = await openWatched();
    const watch = crewboard(app.url, 'watch', JOB_ID);
    // Ctrl-C is for all processes there, and this shell is to tell how it ended.
    await using pty = openPty(`trap : INT; ${watch}; echo code $?; stty`, 80, env());
    await pty.shows(ENTERED);
    expect(await pty.shows('0 of 1 task completed')).toContain('(q leaves it running)');
    await app.fake.followersAre(1);
    pty.type(key);
    await pty.shows(LEFT);
    expect(await pty.shows('code 130')).toContain(`${JOB_ID} goes on`);
    // Only what differs from a terminal's usual mode is told.
    await pty.ended;
    await expect(pty.shows('-icanon')).rejects.toThrow('ended without');
    expect(app.fake.calls.map(({ method }) => method)).not.toContain('cancelJob');
  });

  test('watch gives the terminal back at Ctrl-Z, is stopped, and draws again at fg', async () => {
    await using app = await openWatched();
    await using pty = openPty('bash --norc --noediting -i', 80, env());
    pty.type(`${crewboard(app.url, 'watch', JOB_ID)}\n`);
    for (let times = 0; times < 2; times++) {
      await pty.shows(ENTERED);
      await pty.shows('0 of 1 task completed');
      await app.fake.followersAre(1);
      pty.type(CTRL_Z);
      await pty.shows(LEFT);
      await pty.shows('Stopped');
      pty.type('stty -a\n');
      expect(await pty.shows('iexten')).toMatch(/[^-]icanon/);
      pty.type('fg\n');
    }
    await pty.shows('0 of 1 task completed');
    pty.type('q');
    await pty.shows(`${JOB_ID} goes on`);
    pty.type('exit\n');
    await pty.ended;
  });

  test.each([
    { variables: {}, flags: [], isColoured: true },
    { variables: { NO_COLOR: '' }, flags: [], isColoured: true },
    { variables: { NO_COLOR: '1' }, flags: [], isColoured: false },
    { variables: { NO_COLOR: '1', FORCE_COLOR: '1' }, flags: [], isColoured: false },
    { variables: { NO_COLOR: '1' }, flags: ['--color'], isColoured: true },
    { variables: { FORCE_COLOR: '1' }, flags: ['--no-color'], isColoured: false },
  ])('board is coloured: $isColoured, with $variables and $flags', async (given) => {
    await using app = await openWatched();
    const command = crewboard(app.url, 'board', JOB_ID, ...given.flags);
    await using pty = openPty(command, 80, { ...env(), ...given.variables });
    expect((await pty.shows('README.md')).includes('\u001b[')).toBe(given.isColoured);
    expect(await pty.ended).toBe(0);
  });

  test('run asks at Ctrl-C whether to cancel, and the end of input leaves the job running, told on a line of its own', async () => {
    await using app = await openApp();
    await using folder = await openTestFolder();
    const file = join(folder.path, 'job.json');
    await writeFile(file, '{"goal": "Summarise"}');
    await using pty = openPty(`trap : INT; ${crewboard(app.url, 'run', file)}; echo code $?`, 80, env());
    await pty.shows('Submitted');
    await app.fake.followersAre(1);
    pty.type(CTRL_C);
    await pty.shows('too? [y/N] ');
    pty.type(CTRL_D);
    await pty.shows(`\r\ncrewboard: interrupted: ${JOB_ID} goes on`);
    await pty.shows('code 130');
    expect(app.fake.calls.map(({ method }) => method)).not.toContain('cancelJob');
  });

  test('run shows its counts first, cut with an ellipsis, and breaks lines between words', async () => {
    await using app = await openApp();
    await using folder = await openTestFolder();
    const file = join(folder.path, 'job.json');
    await writeFile(file, '{"goal": "Summarise"}');
    const statusReason = 'rate limited: the provider asks for patience and more of it';
    app.fake.job = aJob({ statusReason });
    await using pty = openPty(crewboard(app.url, 'run', file), 60, env());
    await app.fake.followersAre(1);
    const reason = 'a reason that takes more than one line of the terminal';
    const event = { type: 'task.failed', taskId: TASK_ID, status: 'failed' } as const;
    app.fake.append(anEvent(1, { ...event, data: { reason } }));
    await pty.shows(
      'failed #1 Summarise README.md: a reason that takes more than\r\none line of the terminal',
    );
    const status = await pty.shows('…');
    expect(status).toMatch(/running: 0 of 1 task completed, 1 ready \(rate limited: .*…$/);
    app.fake.append(anEvent(2, { type: 'job.succeeded', data: {} }));
    app.fake.job = aJob({ status: 'succeeded' });
    expect(await pty.ended).toBe(0);
  });
});
