import { spawnSync } from 'node:child_process';
import { describe } from 'vitest';

/** Tests of the real bubblewrap; shown as skipped where it is not installed. */
export const describeSandbox = describe.skipIf(spawnSync('bwrap', ['--version']).status !== 0);
