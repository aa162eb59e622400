import { execFileSync } from 'node:child_process';

const WC_ENV = { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8' };

function wc(...args: string[]): string {
  return execFileSync('wc', args, { env: WC_ENV, encoding: 'utf8' });
}

function isGnu(): boolean {
  try {
    return wc('--version').includes('GNU coreutils');
  } catch {
    return false;
  }
}

/** The words of a file as `LC_ALL=C.UTF-8 wc -w` counts them; undefined where there is no GNU wc. */
export function wcWords(path: string): number | undefined {
  return isGnu() ? Number(wc('-w', '--', path).trim().split(' ')[0]) : undefined;
}
