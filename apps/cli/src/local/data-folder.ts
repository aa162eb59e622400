import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CrewboardError, newSecret } from '@crewboard/contracts';
import { z } from 'zod';
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
export const ServerState = z.strictObject({
  url: z.url(),
  process: ProcessIdentity,
  /** Where its embedded Redis is, password included; absent when it uses a server. */
  embeddedRedisUrl: z.url().optional(),
});
export type ServerState = z.infer<typeof ServerState>;

/** Returns what the `up` that runs on this folder now tells, if there is any. */
export async function runningServer(folder: DataFolder): Promise<ServerState | undefined> {
  const state = await readState(folder.serverFile, ServerState);
  return state !== undefined && (await isRunning(state.process)) ? state : undefined;
}

/** Tells other commands where the server is. Returns a function that takes it back. */
export async function publishServer(folder: DataFolder, state: ServerState): Promise<() => Promise<void>> {
  await writeState(folder.serverFile, state);
  return () => rm(folder.serverFile, { force: true });
}
