import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CrewboardError, newSecret } from '@crewboard/contracts';
import { makeFolder, systemErrorCode, systemErrorInWords } from '@crewboard/tools';
import { within } from './within.ts';

/** A file system that does not answer by then, such as one over a network, is taken for gone. */
const ANSWERS_WITHIN_MS = 5000;
/** What a look has found holds as long. */
const LOOK_EVERY_MS = 3000;
/** As much as a block: less may find room in a disk that is full. */
const PROBE = Buffer.alloc(4096);

/** What is no fault of the name: it may be over without anybody's choosing another folder. */
const PASSING: readonly (string | undefined)[] = ['ENOSPC', 'EDQUOT', 'EIO', 'EMFILE', 'ENFILE', 'ESTALE'];

/** Sees whether the data folder takes writes. */
export interface DataFolderWatch {
  /** Why it takes none, in one line; undefined when it does. Looks at most every few seconds; never rejects. */
  trouble(): Promise<string | undefined>;
}

/** Writes a small file durably and removes it. Rejects with the system's error where that does not work. */
async function writeProbe(folder: string): Promise<void> {
  const path = join(folder, `.probe-${newSecret()}`);
  const handle = await open(path, 'wx', 0o600);
  try {
    await handle.writeFile(PROBE);
    await handle.sync();
  } finally {
    await handle.close();
    await rm(path, { force: true });
  }
}

/** Waits for `work`, but not for ever. */
async function bounded(work: Promise<void>): Promise<void> {
  if ((await within(work, ANSWERS_WITHIN_MS)) === 'late')
    throw new Error(`no answer for ${ANSWERS_WITHIN_MS / 1000} s`);
}

/**
 * Makes the data folder where it is missing, and sees that it takes writes. Errors name CREWBOARD_DATA_DIR and the
 * system's reason: `invalid_argument`, and `unavailable` where the name is not to blame, as with a full disk.
 */
export async function openDataFolder(folder: string): Promise<void> {
  await bounded(makeFolder(folder).then(() => writeProbe(folder))).catch((cause: unknown) => {
    const code = systemErrorCode(cause);
    throw new CrewboardError(
      code === undefined || PASSING.includes(code) ? 'unavailable' : 'invalid_argument',
      `CREWBOARD_DATA_DIR must name a folder that can be made and written to (${systemErrorInWords(cause)}): ${folder}`,
      {},
      { cause },
    );
  });
}

/** Watches a folder that was there at the start; one that has gone is not made anew. */
export function watchDataFolder(folder: string): DataFolderWatch {
  let looked: { at: number; trouble: Promise<string | undefined> } | undefined;
  let running: Promise<void> | undefined;

  async function look(): Promise<string | undefined> {
    // One that hangs is waited for again: each holds one of the few threads that this process has for files.
    running ??= writeProbe(folder).finally(() => {
      running = undefined;
    });
    try {
      await bounded(running);
      return undefined;
    } catch (error) {
      return `data folder: it takes no writes (${systemErrorInWords(error)}). See that the folder of CREWBOARD_DATA_DIR is there, writable and not full`;
    }
  }

  return {
    trouble() {
      const now = performance.now();
      if (looked === undefined || now - looked.at >= LOOK_EVERY_MS) looked = { at: now, trouble: look() };
      return looked.trouble;
    },
  };
}
