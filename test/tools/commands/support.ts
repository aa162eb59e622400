import { spawnSync } from 'node:child_process';

/** Tests of the real bubblewrap are shown as skipped where it is not installed. */
export const HAS_BUBBLEWRAP = spawnSync('bwrap', ['--version']).status === 0;
