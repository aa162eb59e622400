import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CrewboardError } from '@crewboard/contracts';
import { makeFolder, systemErrorCode } from '@crewboard/tools';
import { folderTrouble } from '../file-trouble.ts';
import { type DataFolder, dataFolder } from './data-folder.ts';

/** What we put into the folder: files, of which drafts may lie beside them, and folders. */
const OWN_FILES = ['.gitignore', 'api-key', 'server.json'];
const OWN_FOLDERS = ['logs', 'redis', 'locks', 'artifacts', 'archive'];
const OWN_ENTRIES = [...OWN_FILES.map((name) => `/${name}*`), ...OWN_FOLDERS.map((name) => `/${name}/`)];

const isOwn = (name: string) => OWN_FOLDERS.includes(name) || OWN_FILES.some((file) => name.startsWith(file));

/**
 * Keeps keys and data out of commits. In a folder that holds other things, too, which may be somebody's project, only
 * what is ours is ignored; a .gitignore that is there already is left as it is.
 */
async function ignoreInGit(root: string): Promise<void> {
  const isOurs = (await readdir(root)).every(isOwn);
  const text = isOurs ? '*\n' : `${OWN_ENTRIES.join('\n')}\n`;
  try {
    await writeFile(join(root, '.gitignore'), text, { flag: 'wx' });
  } catch (error) {
    if (systemErrorCode(error) !== 'EEXIST') throw error;
  }
}

/** Says so when others on this machine can look into the folder; its mode is its owner's business. */
async function warnOfOthers(root: string, report: (line: string) => void): Promise<void> {
  const mode = (await stat(root)).mode & 0o777;
  if ((mode & 0o077) === 0) return;
  report(
    `WARNING: the data folder ${root} is open to other users of this machine (mode ${mode.toString(8)}): chmod 700 ${root}`,
  );
}

/**
 * Makes the folder for its owner only, with a .gitignore. One that is there already keeps its mode; `report` gets a
 * warning when others can look into it. Throws `invalid_argument` naming CREWBOARD_DATA_DIR when it can't be made.
 */
export async function createDataFolder(
  root: string,
  report: (line: string) => void = () => {},
): Promise<DataFolder> {
  const folder = dataFolder(root);
  let path = root;
  try {
    if (!(await makeFolder(root))) await warnOfOthers(root, report);
    await ignoreInGit(root);
    for (path of [folder.logs, folder.redis, folder.locks]) await makeFolder(path);
  } catch (error) {
    throw new CrewboardError(
      'invalid_argument',
      `CREWBOARD_DATA_DIR must name a folder that can be made or written to (${folderTrouble(error)}): ${path}`,
      {},
      { cause: error },
    );
  }
  return folder;
}
