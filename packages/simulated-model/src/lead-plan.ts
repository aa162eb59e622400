import { createHash } from 'node:crypto';
import { cutUtf8, utf8Bytes } from '@crewboard/contracts';
import { type Conversation, callsOf, errorOf, type Move } from './conversation.ts';
import { counted } from './counted.ts';
import { isRejectedPlan, type LeadView } from './lead-view.ts';
import { tokensOf } from './usage.ts';

export const COMBINE_KEY = 'combine';
export const COMBINE_LABEL = 'combine';
const PAGE_PREFIX = 'page:';
const PART_PREFIX = 'combine:';
const OPS_A_CALL = 100;
const MAX_PROPOSALS = 3;
/** `submit_plan` takes one plan of at most this many tasks. */
const TASKS_A_PLAN = 1000;
/** More pages than this are combined in parts first: one task should not have to fetch thousands of results. */
const PAGES_A_PART = 500;
const KEY_BYTES = 200;
/** Room in a reply for everything but the operations. */
const SHARE_FOR_OPS = 0.75;

type Op = Record<string, unknown> & { key: string };

/** The key of a file's task; a very long path is cut and made unique again. */
function pageKey(path: string): string {
  const key = `${PAGE_PREFIX}${path}`;
  if (utf8Bytes(key) <= KEY_BYTES) return key;
  return `${cutUtf8(key, KEY_BYTES - 17)}~${createHash('sha256').update(path).digest('hex').slice(0, 16)}`;
}

function pageTask(path: string): Op {
  return {
    key: pageKey(path),
    title: Array.from(`Review ${path}`).slice(0, 200).join(''),
    instructions: [
      `Objective: review the file ${path} and report its facts.`,
      'Output: {file, title, words, headings, links, codeBlocks}; words as `wc -w` counts them.',
      `Sources: ${path} alone, read to its end.`,
      'Bounds: read only; change nothing.',
      'Acceptance: every number is taken from the file as it was read.',
    ].join('\n'),
    input: { path },
    labels: ['page'],
  };
}

function combineTask(key: string, title: string, dependencies: readonly string[], label: string): Op {
  return {
    key,
    title,
    instructions: [
      'Objective: put the results of all tasks that this one depends on together.',
      'Output: {pages, totals, failed}: each page as it was reported, the sums, and what failed and why.',
      'Sources: the results of the dependencies. Bounds: do not read the files again.',
      'Acceptance: pages and failed together are all the dependencies.',
    ].join('\n'),
    input: { combine: true },
    labels: [label],
    dependsOn: dependencies.map((task) => ({ task, condition: 'settled' })),
  };
}

/** The whole plan, in order: a task a file, parts when there are many, and one that combines them. */
function wholePlan(files: readonly string[]): Op[] {
  const pages = files.map(pageTask);
  const parts: Op[] = [];
  for (let start = 0; pages.length > PAGES_A_PART && start < pages.length; start += PAGES_A_PART) {
    const keys = pages.slice(start, start + PAGES_A_PART).map(({ key }) => key);
    const number = parts.length + 1;
    parts.push(
      combineTask(`${PART_PREFIX}${number}`, `Combine page reviews, part ${number}`, keys, 'combine-part'),
    );
  }
  const last = (parts.length > 0 ? parts : pages).map(({ key }) => key);
  return [...pages, ...parts, combineTask(COMBINE_KEY, 'Combine the page reviews', last, COMBINE_LABEL)];
}

/** As many of `ops` as one call may carry and one reply may hold; at least one. */
function nextBatch(ops: readonly Op[], maxTokens: number): Op[] {
  const batch: Op[] = [];
  let tokens = 0;
  for (const op of ops.slice(0, OPS_A_CALL)) {
    tokens += tokensOf(JSON.stringify(op)) + 8;
    if (batch.length > 0 && tokens > maxTokens * SHARE_FOR_OPS) break;
    batch.push(op);
  }
  return batch;
}

function isOurs(key: string | undefined): boolean {
  return key !== undefined && (key.startsWith(PAGE_PREFIX) || key.startsWith(COMBINE_KEY));
}

/** True when the board's tasks were given with the job: then the lead only follows them. */
export function hasGivenTasks({ firstBoard, planned }: LeadView): boolean {
  const tasks = firstBoard?.tasks ?? [];
  return planned.size === 0 && tasks.length > 0 && !tasks.some(({ key }) => isOurs(key));
}

/** Proposes what is on the board already: the given tasks are the whole plan. */
export function submitGiven(conversation: Conversation): Move {
  return submitPlan(conversation, []);
}

/** Proposes the plan; a rejected one is proposed again, with the answer in view, but not for ever. */
function submitPlan(conversation: Conversation, plan: readonly Op[]): Move {
  const rejected = callsOf(conversation, 'submit_plan').filter(isRejectedPlan);
  const answer = cutUtf8(rejected.at(-1)?.result ?? '', 500);
  if (rejected.length >= MAX_PROPOSALS) {
    return {
      say: `My plan was rejected ${counted(rejected.length, 'time')}, the last time with: ${answer}`,
      calls: [],
    };
  }
  const pages = plan.filter(({ key }) => key.startsWith(PAGE_PREFIX));
  const shown = plan.length <= TASKS_A_PLAN ? plan : wholePlan(pathsOf(pages.slice(0, TASKS_A_PLAN - 10)));
  const left = plan.length - shown.length;
  const text = [
    plan.length === 0
      ? 'The tasks on the board are the plan.'
      : 'One task a file, then one that combines them.',
    ...(left > 0 ? [`${left} more do not fit in one plan.`] : []),
    ...(answer === '' ? [] : [`I have no other plan than the one you answered with: ${answer}`]),
  ].join(' ');
  return {
    say: 'The plan needs approval first.',
    calls: [{ name: 'submit_plan', input: { tasks: shown, text } }],
  };
}

function pathsOf(pages: readonly Op[]): string[] {
  return pages.flatMap(({ input }) =>
    typeof input === 'object' && input !== null && 'path' in input ? [String(input.path)] : [],
  );
}

/** The next planning call, or null when everything is on the board, or nothing is to be planned. */
export function planMove(conversation: Conversation, view: LeadView): Move | null {
  const files = view.files ?? [];
  if (files.length === 0 || hasGivenTasks(view)) return null;
  const plan = wholePlan(files);
  // After a restart with an empty conversation the board tells that the plan was made.
  if (view.planned.size === 0 && view.tasksSeen >= plan.length) return null;
  if (view.planned.has(COMBINE_KEY)) return null;
  const refused = callsOf(conversation, 'board_plan').at(-1);
  if (refused?.isError && errorOf(refused).code === 'plan_mode') return submitPlan(conversation, plan);
  const left = plan.filter(({ key }) => !view.planned.has(key));
  const ops = nextBatch(left, conversation.maxTokens).map((op) => ({ op: 'add', ...op }));
  const done = plan.length - left.length;
  const say =
    done === 0
      ? `${counted(files.length, 'file')}: one task a file, then one that combines them.`
      : undefined;
  return { ...(say === undefined ? {} : { say }), calls: [{ name: 'board_plan', input: { ops } }] };
}
