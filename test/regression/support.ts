import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Boards } from '@crewboard/board';
import type { Job, JobBody, JournalEntry, Task } from '@crewboard/contracts';
import { expectHonestCounts } from '../e2e/support/job-record.ts';
import { boardsOf } from '../support/boards-of.ts';
import { type LocalStack, openLocalStack } from '../support/local-stack.ts';
import { allText, type MessagesRequest, type ScriptedApi } from '../support/scripted-messages-api.ts';

/** The ID of the task that a sub-agent's first message shows. */
export function ownTask(request: MessagesRequest): string {
  return /"taskId":"(t_\w{8})"/.exec(allText(request))?.[1] ?? '';
}

/** The title of the task that a sub-agent's first message shows. */
export function titleOf(request: MessagesRequest): string {
  return /"title":"([^"]*)"/.exec(allText(request))?.[1] ?? '';
}

/** How many replies the conversation of a request holds. */
export function repliesIn(request: MessagesRequest): number {
  return request.messages.filter(({ role }) => role === 'assistant').length;
}

/** A folder with files that a job may work in; disposing deletes it. */
export interface TestFolder extends AsyncDisposable {
  path: string;
}

/** Makes a folder with `files`: contents by relative path. */
export async function folderWith(files: Readonly<Record<string, string | Uint8Array>>): Promise<TestFolder> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'crewboard-regression-')));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(path, name)), { recursive: true });
    await writeFile(join(path, name), content);
  }
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** What a job has come to, as the board has it. */
export interface Outcome {
  job: Job;
  /** In plan order. */
  tasks: Task[];
  journals: ReadonlyMap<string, readonly JournalEntry[]>;
}

/** API and worker over a scripted provider. */
export interface ScriptedStack extends AsyncDisposable {
  local: LocalStack;
  boards: Boards;
  /** Runs a job to its end; its counts must add up to the number of its tasks. */
  run(body: JobBody): Promise<Outcome>;
  /** The job as it is now; its counts must add up. */
  read(jobId: string): Promise<Outcome>;
}

/** Opens a stack whose model calls go to `api`. */
export async function openScriptedStack(
  api: ScriptedApi,
  options: { workspaces?: readonly string[]; variables?: Readonly<Record<string, string>> } = {},
): Promise<ScriptedStack> {
  const local = await openLocalStack({ provider: { url: api.url, key: 'test-provider-key' }, ...options });
  const boards = boardsOf(local);
  const read = async (jobId: string): Promise<Outcome> => {
    const job = await local.client.jobs.get(jobId);
    const { tasks } = await boards.page(jobId, { after: 0, limit: 1000, full: true });
    expectHonestCounts(job.counts);
    if (job.counts.total !== tasks.length) throw new Error(`${job.counts.total} counted of ${tasks.length}`);
    const journals = await Promise.all(
      tasks.map(async ({ id }) => [id, await boards.readJournal(jobId, id)] as const),
    );
    return { job, tasks, journals: new Map(journals) };
  };
  return {
    local,
    boards,
    read,
    run: async (body) => read((await local.run(body)).id),
    [Symbol.asyncDispose]: () => local[Symbol.asyncDispose](),
  };
}
