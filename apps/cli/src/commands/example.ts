import { access } from 'node:fs/promises';
import { delimiter, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@crewboard/client';
import { CrewboardError } from '@crewboard/contracts';
import type { Config } from '../config.ts';
import { readJobFile } from '../job-file.ts';
import type { Instance } from '../local/instance.ts';
import { printText } from '../print-text.ts';
import { followJob } from '../progress.ts';
import { showJob, showResult } from '../show.ts';
import type { Terminal } from '../terminal.ts';
import { safeLine, shortPath } from '../text.ts';

/** The example job of `up --example`. */
export interface Example {
  /** CREWBOARD_WORKSPACES for the children: what the user allows, and the example's own folder. */
  workspaces: string;
  /** Submits and follows the job if there is none yet, and says where to look. Resolves early on abort. */
  run(instance: Instance, terminal: Terminal, signal: AbortSignal): Promise<void>;
}

/** Built (the build puts the examples beside this), and from source. */
const PLACES = ['../examples/docs-review.json', '../../../../examples/docs-review.json'];

async function exampleFile(): Promise<string> {
  for (const place of PLACES) {
    const file = fileURLToPath(new URL(place, import.meta.url));
    const isThere = await access(file).then(
      () => true,
      () => false,
    );
    if (isThere) return file;
  }
  throw new CrewboardError(
    'not_found',
    'examples/docs-review.json is missing: start with `crewboard up` and submit a job of your own',
  );
}

function whereToLook(instance: Instance, jobId: string): string[] {
  const keyFile = shortPath(instance.folder.keyFile);
  return [
    '',
    'Look around:',
    `  the queues      ${instance.url}/admin/queues (log in with the key in ${keyFile})`,
    '                  They hold what is waiting or running: entries that are done are removed.',
    `  each result     \`npx crewboard results ${jobId}\``,
    `  over HTTP       \`curl -H "Authorization: Bearer $(cat ${keyFile})" ${instance.url}/v1/jobs/${jobId}\``,
    '  your own job    `npx crewboard run FILE`',
    '',
  ];
}

/** Finds the example and what it needs. Throws `not_found` when the package has none. */
export async function findExample({ environment }: Config): Promise<Example> {
  const file = await exampleFile();
  const allowed = environment.CREWBOARD_WORKSPACES ?? process.cwd();
  return {
    workspaces: `${allowed}${delimiter}${dirname(file)}`,
    async run(instance, terminal, signal) {
      const client = createClient({ baseUrl: instance.url, apiKey: instance.apiKey });
      const [last] = (await client.jobs.list()).jobs;
      if (last !== undefined) {
        terminal.message(
          `There are jobs already, so no example is submitted. The last one: ${safeLine(last.title)}`,
        );
        terminal.message(`  ${showJob(last)}`);
        for (const line of whereToLook(instance, last.id)) terminal.message(line);
        return;
      }
      const body = await readJobFile(file);
      const { id } = await client.jobs.submit(body);
      terminal.message(`Submitted the example ${id}: ${safeLine(body.title ?? body.goal ?? file)}`);
      try {
        const job = await followJob(client, id, terminal, signal);
        const columns = terminal.dataColumns();
        await printText(terminal, `\n${showResult(job, await client.jobs.result(id), { columns })}`);
        for (const line of whereToLook(instance, id)) terminal.message(line);
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    },
  };
}
