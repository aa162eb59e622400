import { appendFile, readFile } from 'node:fs/promises';
import { createModelCall, runAgent } from '@crewboard/agent';
import { createTodoWriteTool, renderPlain, todoWriteEntry } from '@crewboard/checklist';
import { JOURNAL_FORMAT, type Journal, JournalEntry, type Tool } from '@crewboard/contracts';
import { z } from 'zod';

/**
 * One agent with a checklist, without board or Redis. Run it twice with the same journal, or kill it in between: it goes
 * on where it was.
 * `node --conditions=@crewboard/source --import tsx examples/agent.ts <journal file> <base url> <api key> <model>`
 */
const [
  file = 'agent.jsonl',
  baseUrl = 'https://api.anthropic.com',
  apiKey = '',
  model = 'claude-sonnet-5-5',
] = process.argv.slice(2);

const ATTEMPT = 1;

/** A journal in a file, a line an entry. A store that several processes write to must also refuse outdated writers. */
async function fileJournal(path: string): Promise<Journal> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const entries = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JournalEntry.parse(JSON.parse(line)));
  return {
    entries,
    async append(entry) {
      const whole = { v: JOURNAL_FORMAT, id: String(entries.length), attempt: ATTEMPT, ...entry };
      await appendFile(path, `${JSON.stringify(whole)}\n`);
      entries.push(whole);
    },
  };
}

const journal = await fileJournal(file);

const Words = z.strictObject({ text: z.string() });
const countWords: Tool<z.infer<typeof Words>> = {
  name: 'count_words',
  description: 'Counts the words of a text: {text}.',
  inputSchema: Words,
  readOnly: true,
  execute: async ({ text }) => ({ content: String(text.split(/\s+/).filter((word) => word !== '').length) }),
};

const Answer = z.strictObject({ answer: z.string() });
/** It ends the attempt: without such a tool an agent can only stop at a bound. */
const finish: Tool<z.infer<typeof Answer>> = {
  name: 'finish',
  description: 'Gives the answer and ends the work: {answer}.',
  inputSchema: Answer,
  readOnly: false,
  // Printed twice, after a crash, the answer does no harm.
  idempotent: true,
  endsAttempt: true,
  async execute({ answer }) {
    process.stdout.write(`${answer}\n`);
    return { content: 'done', end: { kind: 'done' } };
  },
};

const checklist = createTodoWriteTool({
  allowParallelInProgress: false,
  async onUpdate(todos) {
    process.stdout.write(`${renderPlain(todos)}\n`);
    await journal.append(todoWriteEntry(todos));
  },
});

const outcome = await runAgent({
  model,
  system: 'You count words. Keep a checklist. End with finish.',
  tools: [checklist, countWords, finish],
  journal,
  callModel: createModelCall({ baseUrl, apiKey, idleMs: 120_000 }),
  opening: ['How many words has "the quick brown fox"?'],
  attempt: ATTEMPT,
  checklistRemind: true,
  limits: {
    maxTurns: 20,
    timeoutMs: 600_000,
    toolTimeoutMs: 60_000,
    parallelTools: 4,
    modelTries: 4,
    modelRetryMs: 60_000,
    maxResultChars: 50_000,
  },
  emit() {},
  signal: AbortSignal.timeout(900_000),
});
process.stdout.write(`${JSON.stringify(outcome)}\n`);
