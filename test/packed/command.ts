import { spawn } from 'node:child_process';
import { delimiter, dirname } from 'node:path';

/** Where and how a command runs; its whole environment is PATH, HOME and what is given. */
export interface Place {
  cwd: string;
  /** `PATH`; by default this process's own. */
  path?: string;
  env?: Readonly<Record<string, string>>;
}

const WITHIN_MS = 60_000;

// biome-ignore lint/style/noProcessEnv: what the commands under test are given of this process's own environment
const { PATH = '', HOME = '' } = process.env;

/** The environment of a command in `place`, in which this very Node is the first to be found. */
export function environmentOf({ path = `${dirname(process.execPath)}${delimiter}${PATH}`, env }: Place) {
  return { PATH: path, HOME, NO_COLOR: '1', ...env };
}

/** Runs a command to its end and returns its stdout. Rejects with all that it said when it fails or takes a minute. */
export function run(command: string, args: readonly string[], place: Place): Promise<string> {
  const child = spawn(command, args, {
    cwd: place.cwd,
    env: environmentOf(place),
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: WITHIN_MS,
    killSignal: 'SIGKILL',
  });
  let out = '';
  let all = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
    all += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    all += text;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) resolve(out);
      else reject(new Error(`${command} ${args.join(' ')} ended with ${code ?? signal}:\n${all}`));
    });
  });
}
