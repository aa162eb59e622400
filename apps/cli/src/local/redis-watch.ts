import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Time for workers, which end with this process as well, to hand back their tasks. */
const GRACE_SECONDS = 5;

/** Waits for the end of its input, then ends process $0, if $1 still names $2 as the one that keeps it running. */
const WATCH = `read -r _; PATH=/bin:/usr/bin sleep ${GRACE_SECONDS}; read -r keeper < "$1"; [ "$keeper" = "$2" ] && kill "$0"`;

/**
 * Ends the Redis server `pid` on the folder `dir` when this process dies in any way, also by kill -9, which nothing in
 * it would see: a shell waits for the end of a pipe whose other end only this process holds. A server that another
 * `up` has taken over meanwhile is that one's to end. Returns how to call it off.
 */
export async function endWithThisProcess(pid: number, dir: string): Promise<() => void> {
  const keeperFile = join(dir, 'keeper');
  const keeper = String(process.pid);
  await writeFile(keeperFile, `${keeper}\n`, { mode: 0o600 });
  const watch = spawn('/bin/sh', ['-c', WATCH, String(pid), keeperFile, keeper], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // Out of the terminal's process group, like the server.
    detached: true,
  });
  // Without a shell the server may be left over; the next start takes it over.
  watch.on('error', () => {});
  watch.unref();
  return () => watch.kill('SIGKILL');
}
