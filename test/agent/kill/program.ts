import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createModelCall, runAgent } from '../../../packages/agent/src/index.ts';
import { JOURNAL_FORMAT, type Journal, JournalEntry } from '../../../packages/contracts/src/index.ts';
import { LIMITS } from '../support.ts';
import { boundedFetch, boundedJournal, boundedTools, countBoundaries } from './boundaries.ts';
import { storyTools } from './story.ts';

/** The story as a process of its own: `program.ts FOLDER MODEL_URL ATTEMPT [KILL_AT]`. What it did is in the folder. */
const [folder = '.', url = '', attemptText = '1', killAt] = process.argv.slice(2);
const attempt = Number(attemptText);

function linesOf(path: string): string[] {
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [];
}

function fileJournal(path: string): Journal {
  const entries = linesOf(path).map((line) => JournalEntry.parse(JSON.parse(line)));
  return {
    entries,
    async append(entry) {
      const id = `${attempt}-${entries.length}`;
      const whole = JournalEntry.parse({ v: JOURNAL_FORMAT, id, attempt, ...entry });
      appendFileSync(path, `${JSON.stringify(whole)}\n`);
      entries.push(whole);
    },
  };
}

const effectsPath = `${folder}/effects`;
const boundaries = countBoundaries((number) => {
  if (number === Number(killAt)) process.kill(process.pid, 'SIGKILL');
});
const outcome = await runAgent({
  model: 'claude-test',
  system: 'You are a test.',
  opening: ['Do the task.'],
  limits: LIMITS,
  emit: () => {},
  attempt,
  journal: boundedJournal(fileJournal(`${folder}/journal`), boundaries),
  tools: boundedTools(
    storyTools({
      get effects() {
        return linesOf(effectsPath);
      },
      effect: (line) => appendFileSync(effectsPath, `${line}\n`),
    }),
    boundaries,
  ),
  callModel: createModelCall({
    baseUrl: url,
    apiKey: 'none',
    idleMs: 5000,
    fetch: boundedFetch(boundaries),
  }),
  signal: new AbortController().signal,
});
process.stdout.write(JSON.stringify({ kind: outcome.kind, crossed: boundaries.crossed }));
