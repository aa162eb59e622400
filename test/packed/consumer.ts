import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from './command.ts';

/** Runs in plain Node with the installed client alone: the whole example job. Arguments: URL, key, job file. */
export const PROGRAM = `
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createClient, isCrewboardError } from '@crewboard/client';
import { Job } from '@crewboard/contracts';

const [url, apiKey, file] = process.argv.slice(2);
const client = createClient({ baseUrl: url, apiKey });
const body = JSON.parse(await readFile(file, 'utf8'));
body.workspace.path = join(dirname(file), body.workspace.path);
const { id } = await client.jobs.submit(body);
let completed = 0;
for await (const event of client.jobs.events(id)) if (event.type === 'task.completed') completed += 1;
const result = await client.jobs.wait(id);
let lines = 0;
for await (const line of client.jobs.results(id)) if (line.status === 'completed') lines += 1;
Job.parse(await client.jobs.get(id));
let code;
try {
  await client.jobs.edit(id, { version: 1, limits: { maxParallel: 2 } });
} catch (error) {
  if (!isCrewboardError(error, 'terminal')) throw error;
  code = error.code;
}
console.log(JSON.stringify({ status: result.status, completed, lines, pages: result.output.totals.pages, code }));
`;

const TYPED = `
import { type BoardEvent, type Client, createClient, isCrewboardError, type JobBody } from '@crewboard/client';
import { ERROR_STATUS, Job, type NewTask } from '@crewboard/contracts';

const task: NewTask = { title: 'One', key: 'one' };
const body: JobBody = { tasks: [task], limits: { maxParallel: 2 } };
// @ts-expect-error a job body is strict
export const wrong: JobBody = { gaol: 'Sum up' };

export async function main(client: Client = createClient({ baseUrl: 'http://127.0.0.1:7420' })) {
  try {
    const { id } = await client.jobs.submit(body);
    for await (const event of client.jobs.events(id)) console.log((event satisfies BoardEvent).type);
    return (await client.jobs.wait(id)).status;
  } catch (error) {
    if (!isCrewboardError(error, 'stale_version', 'terminal')) throw error;
    const code: 'stale_version' | 'terminal' = error.code;
    return ERROR_STATUS[code];
  }
}
export const job: Job = Job.parse({});
`;

/** How two kinds of projects find packages: Node programs, and what a bundler builds. */
const RESOLUTIONS = { nodenext: 'nodenext', bundler: 'esnext' } as const;

/** Compiles a strict project that uses client and contracts in `folder`, where they are installed. */
export async function checkTypes(tsc: string, folder: string): Promise<void> {
  const project = join(folder, 'typed');
  await mkdir(project, { recursive: true });
  await writeFile(join(project, 'consumer.ts'), TYPED);
  for (const [moduleResolution, module] of Object.entries(RESOLUTIONS)) {
    const compilerOptions = {
      ...{ module, moduleResolution, target: 'es2022', lib: ['es2023', 'dom'], types: [] },
      ...{ strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, noEmit: true },
    };
    await writeFile(
      join(project, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, files: ['consumer.ts'] }),
    );
    await run(tsc, ['-p', project], { cwd: folder });
  }
}
