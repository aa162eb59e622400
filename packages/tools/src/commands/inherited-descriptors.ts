import { readdirSync, readFileSync } from 'node:fs';
import { systemErrorCode } from '../system-error.ts';

const CLOSE_ON_EXEC = 0o2000000;

/** True for a descriptor that every program started from here would have as well. */
function isPassedOn(descriptor: number): boolean {
  try {
    const [, flags = '0'] =
      /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1')) ?? [];
    return (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch (error) {
    // Closed meanwhile, such as the one by which the folder was read.
    if (systemErrorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

/**
 * The descriptors above 2 that this process passes on to whatever it starts. Node opens its own so that they are not:
 * these were open when it was started itself (`exec 9>lock` in a shell), and they lead to files and folders past every
 * sandbox. Known on Linux only; elsewhere there are none. At once, so that none is opened before the process starts.
 */
export function inheritedDescriptors(): number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((descriptor) => descriptor > 2 && isPassedOn(descriptor));
}
