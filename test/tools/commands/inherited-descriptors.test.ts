import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { HAS_BUBBLEWRAP, makeCommandWorkspace } from './support.ts';

/** Libuv sets close-on-exec on the lowest 16 by itself, and stops at the first gap above them. */
const DESCRIPTORS = [3, 9, 15, 16, 20, 200, 1000];

const MODES = HAS_BUBBLEWRAP ? ['sandbox', 'host'] : ['host'];

const PROGRAM = `
  import { createCommandRunner } from '@crewboard/tools';
  const [mode, workspaceRoot, command] = process.argv.slice(1);
  const run = createCommandRunner({ mode, workspaceRoot, deniedPaths: [] });
  const signal = new AbortController().signal;
  console.log((await run(command, { timeoutMs: 20000, signal })).output);`;

/** Runs a command from a process that was started with a folder open under each of `DESCRIPTORS`. */
async function runFromHeir(mode: string, workspaceRoot: string, folder: string, command: string) {
  const open = openSync(folder, 'r');
  const stdio: ('ignore' | 'pipe' | 'inherit' | number)[] = ['ignore', 'pipe', 'inherit'];
  for (const descriptor of DESCRIPTORS) {
    while (stdio.length < descriptor) stdio.push('ignore');
    stdio.push(open);
  }
  const args = ['--conditions=@crewboard/source', '--import', 'tsx', '--input-type=module', '-e', PROGRAM];
  const child = spawn(process.execPath, [...args, mode, workspaceRoot, command], { stdio });
  closeSync(open);
  if (child.stdout === null) throw new Error('no output');
  const [output] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return output;
}

describe.skipIf(process.platform !== 'linux')('a command of a worker that inherited open folders', () => {
  it.each(MODES)('gets none of them: %s', async (mode) => {
    await using ws = await makeCommandWorkspace('host');
    const command = `for fd in /proc/self/fd/*; do readlink "$fd"; done
      for n in ${DESCRIPTORS.join(' ')}; do cat "/proc/self/fd/$n/secret.txt"; echo x >"/proc/self/fd/$n/pwned"; done
      echo over`;
    const output = await runFromHeir(mode, ws.root, ws.outside, command);
    expect(output).toContain('over');
    expect(output).not.toContain('SECRET');
    expect(output).not.toContain(ws.outside);
    expect(existsSync(join(ws.outside, 'pwned'))).toBe(false);
  });

  it.each(MODES)('has only its own three, and others that lead nowhere: %s', async (mode) => {
    await using ws = await makeCommandWorkspace('host');
    const command = `node -e "
      const fs = require('fs');
      for (const fd of fs.readdirSync('/proc/' + process.ppid + '/fd')) console.log(fd, fs.readlinkSync('/proc/' + process.ppid + '/fd/' + fd))"; true`;
    const lines = (await runFromHeir(mode, ws.root, ws.outside, command)).trim().split('\n');
    const beyond = lines.filter((line) => Number.parseInt(line, 10) > 2);
    expect(lines.length - beyond.length).toBe(3);
    expect(beyond.filter((line) => !line.endsWith(' /dev/null'))).toEqual([]);
  });
});
