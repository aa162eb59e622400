import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { CrewboardError, type ToolContext } from '../../packages/contracts/src/index.ts';
import {
  createListFilesTool,
  createReadFileTool,
  createSearchFilesTool,
  openWorkspace,
  type Workspace,
} from '../../packages/tools/src/index.ts';

/** A folder on disk with a workspace in it and a place outside; disposing removes both. */
export interface TestWorkspace extends AsyncDisposable {
  workspace: Workspace;
  /** Physical path of the workspace. */
  root: string;
  /** Physical path of a folder beside the workspace, with `secret.txt` in it. */
  outside: string;
  read(path: string, page?: { offset?: number; limit?: number }): Promise<string>;
  list(input?: { glob?: string; limit?: number }): Promise<string>;
  search(input: { pattern: string; glob?: string; limit?: number }): Promise<string>;
}

/** A tool context that nothing aborts. */
export function quietContext(signal: AbortSignal = new AbortController().signal): ToolContext {
  return { signal, toolUseId: 'toolu_1', requestId: '0/toolu_1' };
}

/** Makes a workspace of `files` (path to content); `.crewboard` in it is the denied data folder. */
export async function makeWorkspace(files: Record<string, string | Buffer> = {}): Promise<TestWorkspace> {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'crewboard-tools-')));
  const root = join(home, 'ws');
  const outside = join(home, 'outside');
  await mkdir(root);
  await mkdir(outside);
  await writeFile(join(outside, 'secret.txt'), 'SECRET');
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
  const workspace = await openWorkspace({ root, deniedPaths: [join(root, '.crewboard')] });
  const context = quietContext();
  const content = async (answer: Promise<{ content: string }>) => (await answer).content;
  return {
    workspace,
    root,
    outside,
    read: (path, page = {}) => content(createReadFileTool(workspace).execute({ path, ...page }, context)),
    list: (input = {}) => content(createListFilesTool(workspace).execute(input, context)),
    search: (input) => content(createSearchFilesTool(workspace).execute(input, context)),
    [Symbol.asyncDispose]: () => rm(home, { recursive: true, force: true }),
  };
}

/** The refusal that `promise` must end with. */
export async function refusalOf(promise: Promise<unknown>): Promise<CrewboardError> {
  const error = await promise.then(
    (value) => new Error(`no refusal, but ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  if (error instanceof CrewboardError) return error;
  throw error;
}

/** The content of a `read_file` answer, without its first line. */
export function bodyOf(answer: string): string {
  return answer.slice(answer.indexOf('\n') + 1);
}

/** The first line of an answer. */
export function headerOf(answer: string): string {
  return answer.slice(0, answer.indexOf('\n') < 0 ? undefined : answer.indexOf('\n'));
}

/** The lines of a `list_files` answer after the first: path to the rest of its line. */
export function listed(answer: string): Map<string, string> {
  const lines = answer.split('\n').slice(1);
  return new Map(
    lines.map((line) => {
      const tab = line.indexOf('\t');
      return [line.slice(0, tab), line.slice(tab + 1)] as const;
    }),
  );
}
