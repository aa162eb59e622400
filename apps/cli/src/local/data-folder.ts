import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CrewboardError, newSecret } from '@crewboard/contracts';
import { z } from 'zod';
import { makeFolder, whyNoFolder } from './make-folder.ts';
import { isRunning, ProcessIdentity } from './process-identity.ts';

/** Where things lie in the data folder. */
export interface DataFolder {
  root: string;
  keyFile: string;
  serverFile: string;
  logs: string;
  redis: string;
  locks: string;
}

/** Returns the paths below `root`; touches nothing. */
export function dataFolder(root: string): DataFolder {
  return {
    root,
    keyFile: join(root, 'api-key'),
    serverFile: join(root, 'server.json'),
    logs: join(root, 'logs'),
    redis: join(root, 'redis'),
    locks: join(root, 'locks'),
  };
}

/** What we put into the folder, as .gitignore has it. */
const OWN_ENTRIES = [
  '/.gitignore',
  '/api-key*',
  '/server.json*',
  '/logs/',
  '/redis/',
  '/locks/',
  '/artifacts/',
  '/archive/',
];
const OWN_NAMES = /^(?:\.gitignore|api-key.*|server\.json.*|logs|redis|locks|artifacts)$/;

/**
 * Keeps keys and data out of commits. In a folder that holds other things, too, which may be somebody's project, only
 * what is ours is ignored; a .gitignore that is there already is left as it is.
 */
async function ignoreInGit(root: string): Promise<void> {
  const isOurs = (await readdir(root)).every((name) => OWN_NAMES.test(name));
  const text = isOurs ? '*\n' : `${OWN_ENTRIES.join('\n')}\n`;
  try {
    await writeFile(join(root, '.gitignore'), text, { flag: 'wx' });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
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
      `CREWBOARD_DATA_DIR must name a folder that can be made or written to (${whyNoFolder(error)}): ${path}`,
      {},
      { cause: error },
    );
  }
  return folder;
}

const NOT_THERE: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG']);

/** True when there is no such file, also because there can be none at such a path. */
function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && NOT_THERE.has(error.code);
}

/** Writes a file readable by its owner only, whole or not at all. */
async function writePrivate(path: string, text: string): Promise<void> {
  const draft = `${path}.${process.pid}.tmp`;
  await writeFile(draft, text, { mode: 0o600 });
  await rename(draft, path);
}

/** Writes `value` as JSON, whole or not at all. */
export function writeState(path: string, value: unknown): Promise<void> {
  return writePrivate(path, `${JSON.stringify(value)}\n`);
}

/** Reads what {@link writeState} wrote; a missing or unreadable state is undefined, as after a crash. */
export async function readState<T>(path: string, schema: z.ZodType<T>): Promise<T | undefined> {
  try {
    const parsed = schema.safeParse(JSON.parse(await readFile(path, 'utf8')));
    return parsed.success ? parsed.data : undefined;
  } catch (error) {
    if (isMissing(error) || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Returns the API key kept in the folder, or undefined when there is none. */
export async function readApiKey(folder: DataFolder): Promise<string | undefined> {
  try {
    const key = (await readFile(folder.keyFile, 'utf8')).trim();
    return key === '' ? undefined : key;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw new CrewboardError(
      'forbidden',
      `the API key ${folder.keyFile} can't be read: pass --key or CREWBOARD_API_KEY`,
    );
  }
}

/** Returns the folder's API key; makes and keeps one on the first start. */
export async function ensureApiKey(folder: DataFolder): Promise<string> {
  const kept = await readApiKey(folder);
  if (kept !== undefined) return kept;
  const key = `cb_${newSecret()}`;
  await writePrivate(folder.keyFile, `${key}\n`);
  return key;
}

/** What `up` leaves in server.json for other commands. */
export const ServerState = z.strictObject({ url: z.url(), process: ProcessIdentity });
export type ServerState = z.infer<typeof ServerState>;

/** Returns the URL of the `up` that runs on this folder now, if any. */
export async function runningServerUrl(folder: DataFolder): Promise<string | undefined> {
  const state = await readState(folder.serverFile, ServerState);
  return state !== undefined && (await isRunning(state.process)) ? state.url : undefined;
}

/** Tells other commands where the server is. Returns a function that takes it back. */
export async function publishServer(folder: DataFolder, state: ServerState): Promise<() => Promise<void>> {
  await writeState(folder.serverFile, state);
  return () => rm(folder.serverFile, { force: true });
}
