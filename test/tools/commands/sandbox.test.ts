import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createCommandRunner, resolveCommandsMode } from '@crewboard/tools';
import { describe, expect, it } from 'vitest';
import { HAS_BUBBLEWRAP, makeCommandWorkspace } from './support.ts';

const SECRETS = {
  '.env': 'SECRET',
  '.env.local': 'SECRET',
  '.ENV': 'SECRET',
  'deep/er/.env.production': 'SECRET',
  '.npmrc': 'SECRET',
  'deep/.ssh/id_ed25519': 'SECRET',
  '.git/config': 'SECRET',
  'sub/.git': 'SECRET',
  'data/api-key': 'SECRET',
  'open.txt': 'open',
};

describe.skipIf(!HAS_BUBBLEWRAP)('the sandbox', () => {
  it('shows no file that is closed to agents, at any depth', async () => {
    await using ws = await makeCommandWorkspace('sandbox', SECRETS);
    await symlink(join(ws.root, '.env'), join(ws.root, 'link'));
    await symlink('data', join(ws.root, 'linked-data'));
    const { output } = await ws.run(
      'cat link open.txt; find . -type f -exec cat {} +; cat .env .env.local .ENV deep/er/.env.production .npmrc; cat deep/.ssh/* .git/* sub/.git data/* linked-data/*; tar c . | cat',
    );
    expect(output).toContain('open');
    expect(output).not.toContain('SECRET');
  });

  it('keeps what is closed from being written, moved and removed', async () => {
    await using ws = await makeCommandWorkspace('sandbox', SECRETS);
    await ws.run(
      'echo x >.env; echo x >>.npmrc; echo x >.git/config; rm -rf .git data .env* .npmrc deep/.ssh; mv .env stolen; mv data stolen-data; ln .env hard; cp -r data copied',
    );
    for (const [path, content] of Object.entries(SECRETS)) {
      expect(await readFile(join(ws.root, path), 'utf8'), path).toBe(content);
    }
    await ws.run('mv deep moved');
    expect(
      (await ws.run('cat moved/er/.env.production moved/.ssh/*; find . -type f | xargs cat')).output,
    ).not.toContain('SECRET');
  });

  it('leaves nothing behind where it masked something', async () => {
    await using ws = await makeCommandWorkspace('sandbox', { 'a.txt': 'a', '.env': 'SECRET' });
    await ws.run('true');
    expect((await readdir(ws.root)).sort()).toEqual(['.env', 'a.txt']);
  });

  it('masks a folder that it may not look into', async () => {
    await using ws = await makeCommandWorkspace('sandbox', { 'shut/.env': 'SECRET' });
    await chmod(join(ws.root, 'shut'), 0);
    const { output } = await ws.run('chmod 700 shut; cat shut/.env');
    await chmod(join(ws.root, 'shut'), 0o700);
    expect(output).not.toContain('SECRET');
  });

  it('masks names that are no UTF-8', async () => {
    await using ws = await makeCommandWorkspace('sandbox');
    const folder = Buffer.concat([Buffer.from(`${ws.root}/`), Buffer.of(0xff)]);
    await mkdir(folder);
    await writeFile(Buffer.concat([folder, Buffer.from('/.env')]), 'SECRET');
    await writeFile(Buffer.concat([Buffer.from(`${ws.root}/.env`), Buffer.of(0xfe)]), 'SECRET');
    const end = await ws.run('cat */.env .env*');
    expect(end.output).toMatch(/(Permission denied.*){2}/s);
    expect(end.output).not.toContain('SECRET');
  });

  it('shows nothing outside the workspace but the system', async () => {
    await using ws = await makeCommandWorkspace('sandbox');
    const { output } = await ws.run(
      `cat ${ws.outside}/secret.txt; ls ${ws.outside} ${homedir()} /home /root /srv /mnt /run /sys /tmp; cat /etc/shadow; ls /proc`,
    );
    expect(output).not.toContain('SECRET');
    expect(output).toMatch(/cannot access '\/root'/);
    expect(output).toMatch(/\/etc\/shadow: Permission denied/);
    const processes = output.split(/\s+/).filter((word) => /^\d+$/.test(word));
    expect(processes.length).toBeLessThan(6);
  });

  it('refuses writes outside the workspace and its own /tmp', async () => {
    await using ws = await makeCommandWorkspace('sandbox');
    const places = [
      '/x',
      '/etc/x',
      '/usr/x',
      '/dev/x',
      '/var/x',
      `${ws.outside}/x`,
      '/proc/sys/kernel/hostname',
      '/proc/sys/vm/overcommit_ratio',
      '/proc/self/comm',
    ];
    for (const place of places) {
      expect(await ws.run(`echo x >'${place}'`), place).not.toMatchObject({ exitCode: 0 });
    }
    expect(await ws.run('echo x >/tmp/x && echo x >/dev/shm/x && cat /tmp/x')).toMatchObject({
      output: 'x\n',
    });
    expect(await ws.run('ls /tmp/x')).toMatchObject({ exitCode: 2 });
  });

  it('has no network, not even to this machine', async () => {
    const server = createServer((_, response) => response.end('reached'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    await using ws = await makeCommandWorkspace('sandbox');
    const { output, exitCode } = await ws.run(
      `node -e "fetch('http://127.0.0.1:${port}').then(r => r.text()).then(console.log, e => { console.log(e.cause.code); process.exit(4) })"; s=$?; cat /proc/net/dev | wc -l; exit $s`,
    );
    server.close();
    expect(output).not.toContain('reached');
    expect(exitCode).toBe(4);
    // Two lines of headings and the loopback device.
    expect(output.trim().split('\n').at(-1)?.trim()).toBe('3');
  });

  it('has no rights with which the masks could be taken off', async () => {
    await using ws = await makeCommandWorkspace('sandbox', { '.env': 'SECRET' });
    const { output } = await ws.run(
      'grep Cap /proc/self/status; umount .env; mount -t tmpfs none /mnt; unshare -rm sh -c "umount $PWD/.env; cat $PWD/.env"; nsenter -t 1 -m cat .env; chroot / true; unshare -r true && echo NAMESPACE',
    );
    expect(output).toMatch(/CapEff:\t0000000000000000/);
    expect(output).toMatch(/CapBnd:\t0000000000000000/);
    expect(output).not.toMatch(/SECRET|NAMESPACE/);
  });

  it.skipIf(process.getuid?.() !== 0)('works for a user without rights as well', async () => {
    await using ws = await makeCommandWorkspace('sandbox', { 'a.txt': 'a', '.env': 'SECRET' });
    execFileSync('chown', ['-R', 'nobody', join(ws.root, '..')]);
    const program = `
      import { createCommandRunner } from '@crewboard/tools';
      const run = createCommandRunner({ mode: 'sandbox', workspaceRoot: process.argv[1], deniedPaths: [] });
      const signal = new AbortController().signal;
      console.log(JSON.stringify(await run('id -u; cat a.txt .env; echo b >b.txt; ls', { timeoutMs: 20000, signal })));`;
    const answer = execFileSync(
      'setpriv',
      [
        ...[
          '--reuid',
          'nobody',
          '--regid',
          'nogroup',
          '--clear-groups',
          process.execPath,
          '--conditions=@crewboard/source',
        ],
        ...['--import', 'tsx', '--input-type=module', '-e', program, ws.root],
      ],
      { cwd: process.cwd(), env: { PATH: '/usr/bin:/bin', HOME: '/nonexistent', TMPDIR: '/tmp' } },
    );
    const end: unknown = JSON.parse(answer.toString());
    expect(end).toMatchObject({ exitCode: 0, output: expect.stringMatching(/^65534\na/) });
    expect(JSON.stringify(end)).not.toContain('SECRET');
  });
});

describe.skipIf(!HAS_BUBBLEWRAP)('a runner for the sandbox', () => {
  it.each(['/', '/usr', '/etc'])('is refused for %s, which holds the system', (workspaceRoot) => {
    expect(() => createCommandRunner({ mode: 'sandbox', workspaceRoot, deniedPaths: [] })).toThrow(
      expect.objectContaining({ code: 'invalid_argument' }),
    );
  });

  it('is refused for a workspace in a closed folder', () => {
    const options = { mode: 'sandbox', workspaceRoot: '/srv/data/job', deniedPaths: ['/srv/data'] } as const;
    expect(() => createCommandRunner(options)).toThrow(expect.objectContaining({ code: 'invalid_argument' }));
  });
});

describe('how commands are run', () => {
  it('is off where no sandbox can be had, and not started when one was asked for', async () => {
    const problem = async () => 'The command could not be started: spawn bwrap ENOENT.';
    expect(await resolveCommandsMode(undefined, problem)).toBe('off');
    await expect(resolveCommandsMode('sandbox', problem)).rejects.toMatchObject({
      code: 'invalid_argument',
      detail: expect.stringMatching(/^CREWBOARD_COMMANDS is sandbox.*ENOENT.*apt-get install bubblewrap/),
    });
  });

  it('is what was asked for', async () => {
    expect(await resolveCommandsMode('off')).toBe('off');
    expect(await resolveCommandsMode('host')).toBe('host');
  });

  it.skipIf(!HAS_BUBBLEWRAP)('is the sandbox where bubblewrap works', async () => {
    expect(await resolveCommandsMode(undefined)).toBe('sandbox');
    expect(await resolveCommandsMode('sandbox')).toBe('sandbox');
  });
});
