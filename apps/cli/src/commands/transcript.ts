import { type JournalEntry, recordConversation } from '@crewboard/contracts';
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { findTaskId } from '../find-task.ts';
import { writeNewFile } from '../new-file.ts';
import { type ServerFlags, withServer, withServerFlags } from '../server.ts';
import { safeJson } from '../text.ts';
import { jobArgument, pathArgument, taskArgument } from './arguments.ts';
import { withExamples } from './help.ts';

interface TranscriptOptions extends ServerFlags {
  record?: string;
}

/** A journal of more pages than this is cut: no command may run without end. */
const PAGES_MOST = 1000;
const PAGE_ENTRIES = 100;

async function transcript(
  jobId: string,
  task: string | number | undefined,
  options: TranscriptOptions,
  { terminal, config }: Context,
): Promise<void> {
  const journal: JournalEntry[] = [];
  let told = '';
  await withServer(config(), options, async (client) => {
    const taskId = task === undefined || task === 0 ? undefined : await findTaskId(client, jobId, task);
    let cursor: string | undefined;
    for (let pages = 0; pages < PAGES_MOST; pages++) {
      const from = cursor === undefined ? {} : { cursor };
      const query = { ...from, limit: PAGE_ENTRIES };
      const page =
        taskId === undefined
          ? await client.jobs.transcript(jobId, query)
          : await client.tasks.transcript(jobId, taskId, query);
      told = page.taskId;
      if (options.record === undefined)
        for (const entry of page.entries) await terminal.data(`${safeJson(entry)}\n`);
      else journal.push(...page.entries);
      cursor = page.nextCursor;
      if (cursor === undefined) return;
    }
    terminal.message(`Only the first ${PAGES_MOST * PAGE_ENTRIES} entries are shown.`);
  });
  if (options.record === undefined) return;
  const recording = recordConversation(told, journal);
  await writeNewFile(options.record, `${JSON.stringify(recording, null, 2)}\n`);
  terminal.message(`Recorded ${recording.replies.length} model replies in ${options.record}`);
}

/** `crewboard transcript JOB [TASK]`: a task's conversation, without one the lead's, as JSON lines or as a fixture. */
export function addTranscript(program: Command, context: Context): void {
  const command = withServerFlags(
    program
      .command('transcript')
      .description(
        'Print the conversation of the lead or of a task, one line of JSON an entry, or save it as a fixture',
      )
      .argument('<job>', 'the job ID', jobArgument)
      .argument('[task]', 'the task ID, or its number (the lead is 0); without it the lead', taskArgument)
      .option('--record <file>', 'save it as a new file that a scripted model can replay', pathArgument)
      .option('--json', 'the same: a transcript is always JSON lines'),
  ).action((jobId: string, task: string | number | undefined, options: TranscriptOptions) =>
    transcript(jobId, task, options, context),
  );
  withExamples(command, [
    'crewboard transcript job_4kx9m2ab7ycd',
    'crewboard transcript job_4kx9m2ab7ycd 12 | jq -r .kind',
    'crewboard transcript job_4kx9m2ab7ycd t_4kx9m2ab --record failure.json',
  ]);
}
