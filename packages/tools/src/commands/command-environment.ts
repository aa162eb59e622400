import { dirname } from 'node:path';

const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** The shell of commands. The one that is started joins the outputs, so that they arrive in the order of writing. */
export function shellArguments(command: string): [string, ...string[]] {
  return ['/bin/sh', '-c', 'exec /bin/sh -c "$1" 2>&1', 'sh', command];
}

/**
 * All that a command sees of an environment: nothing is inherited. The Node that runs Crewboard comes first in PATH, so
 * that `node` and `npx` are there wherever they were installed.
 */
export function commandEnvironment(homeDir: string, tempDir: string): Record<string, string> {
  return {
    PATH: `${dirname(process.execPath)}:${SYSTEM_PATH}`,
    HOME: homeDir,
    TMPDIR: tempDir,
    LANG: 'C.UTF-8',
    SHELL: '/bin/sh',
    TERM: 'dumb',
  };
}
