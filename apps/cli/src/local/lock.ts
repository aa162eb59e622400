import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { CrewboardError } from '@crewboard/contracts';
import { type DataFolder, readState, runningServer, writeState } from './data-folder.ts';
import { identify, isRunning, ProcessIdentity } from './process-identity.ts';

/** Two that start in the same moment both step back; each then tries again after a random time. */
const TRIES = 5;

async function otherHolder(folder: DataFolder, own: string): Promise<ProcessIdentity | undefined> {
  for (const name of await readdir(folder.locks)) {
    const path = join(folder.locks, name);
    if (path === own || !name.endsWith('.json')) continue;
    const holder = await readState(path, ProcessIdentity);
    if (holder !== undefined && (await isRunning(holder))) return holder;
    // Of a process that is gone: nobody will ever write this name again but a process with the same ID.
    await rm(path, { force: true });
  }
  return undefined;
}

/**
 * Takes the data folder for this process and returns the function that gives it back.
 *
 * Each process announces itself with a file of its own and only then looks for others, so of two starters at
 * least one sees the other: there are never two holders. Files of processes that are gone are removed.
 * Throws `unavailable` with the running server's URL when another `up` has the folder.
 */
export async function lockFolder(folder: DataFolder): Promise<() => Promise<void>> {
  const own = join(folder.locks, `${process.pid}.json`);
  const identity = await identify();
  for (let attempt = 1; ; attempt++) {
    await writeState(own, identity);
    const other = await otherHolder(folder, own);
    if (other === undefined) return () => rm(own, { force: true });
    await rm(own, { force: true });
    const url = (await runningServer(folder))?.url;
    if (url !== undefined) throw held(folder, `at ${url} (process ${other.pid}): use it, or stop it first`);
    if (attempt === TRIES)
      throw held(folder, `and is starting or stopping (process ${other.pid}): wait, or stop it`);
    await wait(50 + Math.random() * 150);
  }
}

function held(folder: DataFolder, how: string): CrewboardError {
  return new CrewboardError('unavailable', `an instance already runs on ${folder.root} ${how}`);
}
