import { cutUtf8 } from '@crewboard/contracts';
import {
  type AssignedTask,
  assignedTask,
  inputPath,
  mentionedPath,
  shownDependencies,
} from './assigned-task.ts';
import { combining } from './combine-task.ts';
import { type Conversation, callsOf, type Exchange, errorOf, type Move } from './conversation.ts';
import { counted } from './counted.ts';
import { readingOf } from './file-reads.ts';
import { pageFacts } from './markdown-facts.ts';

const MAX_SUBMITS = 3;
const REASON_BYTES = 2000;

type Call = Move['calls'][number];

/** The checklist with the first `done` steps completed and the next one in progress. */
function checklist({ tools }: Conversation, steps: readonly string[], done: number): Call[] {
  if (!tools.has('todo_write')) return [];
  const todos = steps.map((content, index) => ({
    content,
    status: index < done ? 'completed' : index === done ? 'in_progress' : 'pending',
  }));
  return [{ name: 'todo_write', input: { todos } }];
}

function submit(task: AssignedTask, summary: string, output: unknown): Call {
  const evidence = task.acceptanceIds.map((acceptanceId) => ({
    acceptanceId,
    kind: 'statement',
    text: `Done as the summary says: ${summary}`,
  }));
  return {
    name: 'board_submit',
    input: { taskId: task.taskId, summary, output, ...(evidence.length === 0 ? {} : { evidence }) },
  };
}

function fail(task: AssignedTask, reason: string): Move {
  return {
    say: 'I give this task up.',
    calls: [
      {
        name: 'board_fail',
        input: { taskId: task.taskId, reason: cutUtf8(reason, REASON_BYTES), retryable: false },
      },
    ],
  };
}

/** True when a refused submission may succeed as it is: the task was edited, or the board was busy. */
function isWorthRepeating(refused: Exchange): boolean {
  const { code, retry } = errorOf(refused);
  return code === 'stale_version' || retry === 'after_refresh' || retry === 'same' || retry === 'later';
}

/** The sub-agent's next move: a checklist, the work, and the submission. */
export function subAgentMove(conversation: Conversation): Move {
  const task = assignedTask(conversation);
  if (task === null) return { say: 'I was shown no task, so there is nothing that I can do.', calls: [] };
  const last = conversation.exchanges.at(-1);
  if (last?.name === 'board_submit' && last.isError) {
    const refused = callsOf(conversation, 'board_submit').filter(({ isError }) => isError).length;
    if (!isWorthRepeating(last) || refused >= MAX_SUBMITS) {
      return fail(task, `The submission was refused: ${errorOf(last).detail}`);
    }
  }
  if (isCombineTask(task)) return combineMove(conversation, task);
  const canRead = conversation.tools.has('read_file');
  const given = canRead ? inputPath(task.input) : null;
  if (given !== null) return pageMove(conversation, task, given) ?? fail(task, reasonOf(conversation, given));
  const mentioned = canRead ? mentionedPath(task) : null;
  // What only looked like a path is no reason to fail.
  return (
    (mentioned === null ? null : pageMove(conversation, task, mentioned)) ?? plainMove(conversation, task)
  );
}

function isCombineTask({ input }: AssignedTask): boolean {
  return typeof input === 'object' && input !== null && 'combine' in input && input.combine === true;
}

function reasonOf(conversation: Conversation, path: string): string {
  const reading = readingOf(conversation, path);
  return reading.state === 'failed' ? reading.reason : `${path} could not be read`;
}

/** Reads the file to its end and submits its facts; null when it can't be read. */
function pageMove(conversation: Conversation, task: AssignedTask, path: string): Move | null {
  const steps = [
    `Read ${path} to its end`,
    'Count words, headings, links and code blocks',
    'Submit the facts',
  ];
  const reading = readingOf(conversation, path);
  switch (reading.state) {
    case 'failed':
      return null;
    case 'unread': {
      const isFirst = conversation.exchanges.length === 0;
      const list = isFirst ? checklist(conversation, steps, 0) : [];
      return { say: `I read ${path}.`, calls: [...list, { name: 'read_file', input: reading.next }] };
    }
    case 'going':
      return { calls: [{ name: 'read_file', input: reading.next }] };
    case 'whole': {
      const facts = pageFacts(path, reading.text, { replaced: reading.replaced });
      const counts = [
        counted(facts.words, 'word'),
        counted(facts.headings, 'heading'),
        counted(facts.links, 'link'),
        counted(facts.codeBlocks, 'code block'),
      ];
      const summary = `${path}: ${counts.join(', ')}.`;
      return {
        say: 'I have read the whole file.',
        calls: [...checklist(conversation, steps, 2), submit(task, cutUtf8(summary, REASON_BYTES), facts)],
      };
    }
  }
}

function combineMove(conversation: Conversation, task: AssignedTask): Move {
  const steps = ['Get the results of all dependencies', 'Combine them', 'Submit the whole'];
  const combined = combining(conversation, task);
  if (combined.state === 'fetching') {
    const isFirst = conversation.exchanges.length === 0;
    return { calls: [...(isFirst ? checklist(conversation, steps, 0) : []), ...combined.calls] };
  }
  return {
    say: 'I have every result.',
    calls: [...checklist(conversation, steps, 2), submit(task, combined.summary, combined.output)],
  };
}

/** A task without a file: there is only its text to report on. */
function plainMove(conversation: Conversation, task: AssignedTask): Move {
  const steps = ['Read the task', 'Submit what it says'];
  if (conversation.exchanges.length === 0 && conversation.tools.has('todo_write')) {
    return { say: 'I plan the work first.', calls: checklist(conversation, steps, 0) };
  }
  const { results, moreDependencies } = shownDependencies(conversation);
  const words = task.instructions.split(/\s+/).filter((word) => word !== '').length;
  const dependencies = results.length + moreDependencies;
  const summary = `The simulated model has read the task; it has ${counted(words, 'word')} of instructions.`;
  const output = { title: task.title, instructionsWords: words, dependencies };
  return { calls: [...checklist(conversation, steps, 1), submit(task, summary, output)] };
}
