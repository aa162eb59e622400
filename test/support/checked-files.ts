import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JobBody, ResultLine } from '@crewboard/contracts';
import { folderWith, ownTask, type TestFolder } from '../regression/support.ts';
import type { Answer } from './held-model.ts';
import { allText, lastResults, type MessagesRequest, toolUse } from './scripted-messages-api.ts';

/**
 * A migration: one small TypeScript file a task, in which `var` is to become `const`, and a command that sees whether it
 * did. The model writes `let` at first in every third file, and never anything else in every tenth.
 */

/** What a file is found to be: the check of its task passes for `const` alone. */
const RUN = `grep -n 'export' {path}; grep -q '^export const ' {path} && ! grep -qE '^export (var|let) ' {path}`;

const pathOf = (number: number) => `src/part ${number}/value-${number}.ts`;
const sourceOf = (number: number) =>
  `/** The value of part ${number}. */\nexport var value${number} = ${number};\n`;

const startsWrong = (number: number) => number % 3 === 0;
const staysWrong = (number: number) => number % 10 === 0;

/** A folder with that many files. */
export function filesToMigrate(count: number): Promise<TestFolder> {
  return folderWith(
    Object.fromEntries(Array.from({ length: count }, (_, i) => [pathOf(i + 1), sourceOf(i + 1)])),
  );
}

/** The job: a task a file, each with its check. */
export function migrationJob(count: number, workspace: string): JobBody {
  return {
    workspace: { path: workspace },
    tools: ['read_file', 'edit_file'],
    tasks: Array.from({ length: count }, (_, i) => ({
      key: pathOf(i + 1),
      title: `Migrate part ${i + 1}`,
      input: { path: pathOf(i + 1) },
      maxAttempts: 2,
      acceptance: [{ id: 'const', text: 'it exports a constant', check: { run: RUN } }],
    })),
  };
}

function nextCall(request: MessagesRequest): { name: string; input: Record<string, unknown> } {
  const number = Number(/"title":"Migrate part (\d+)"/.exec(allText(request))?.[1]);
  const taskId = ownTask(request);
  const edit = (find: string, replace: string) => ({
    name: 'edit_file',
    input: { path: pathOf(number), find: `export ${find}`, replace: `export ${replace}` },
  });
  const submit = { name: 'board_submit', input: { taskId, summary: `part ${number} is migrated` } };
  const [last] = lastResults(request);
  if (last === undefined) return edit('var', startsWrong(number) || staysWrong(number) ? 'let' : 'const');
  if (!last.text.includes('"check_failed"')) return submit;
  if (staysWrong(number)) return { name: 'board_fail', input: { taskId, reason: 'I can only write let' } };
  return edit('let', 'const');
}

/** The model of the migration. */
export const migrate: Answer = (request) => {
  const { name, input } = nextCall(request);
  const usage = {
    input_tokens: 100,
    output_tokens: 10,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
  };
  return { content: [toolUse(name, input)], stopReason: 'tool_use', usage };
};

/**
 * Compares what the job says of each file with the file itself; returns what is wrong, and the counts. A completed task's
 * file must be what its check asks for, a failed one's must not, and say what its check said.
 */
export async function compareWithFiles(
  folder: string,
  lines: readonly ResultLine[],
): Promise<{ wrong: string[]; completed: number; failed: number }> {
  const wrong: string[] = [];
  const counts = { completed: 0, failed: 0 };
  for (const { key = '', number, status, failure } of lines) {
    const text = await readFile(join(folder, key), 'utf8');
    const isConstant = text === sourceOf(number).replace('var', 'const');
    if (status === 'completed') {
      counts.completed += 1;
      if (!isConstant) wrong.push(`${key} is completed and holds: ${text}`);
    } else if (status === 'failed') {
      counts.failed += 1;
      const saysWhy = failure?.class === 'check' && failure.reason.includes(`2:export let value${number} =`);
      if (isConstant || !saysWhy) wrong.push(`${key} has failed: ${JSON.stringify(failure)}`);
    } else wrong.push(`${key} is ${status}`);
    if ((status === 'failed') !== staysWrong(number)) wrong.push(`${key} should not be ${status}`);
  }
  return { wrong, ...counts };
}
