import { type JsonValue, utf8Bytes } from '@crewboard/contracts';
import { z } from 'zod';
import { type AssignedTask, DependencyResult, shownDependencies } from './assigned-task.ts';
import { type Conversation, callsOf, type Exchange, errorOf, parseAs } from './conversation.ts';
import { counted } from './counted.ts';

/** Below the board's bound of an output, with room for the harness. */
const OUTPUT_BYTES = 60_000;
/** How many results one turn fetches. */
const GETS_A_TURN = 25;
const REASON_CHARACTERS = 200;

type JsonObject = { [key: string]: JsonValue };

/** What combining came to: calls still to be made, or the output. */
export type Combining =
  | { state: 'fetching'; calls: { name: string; input: Record<string, unknown> }[] }
  | { state: 'done'; output: JsonObject; summary: string };

const BoardGetAnswer = z.looseObject({
  task: z
    .looseObject({
      dependsOn: z.array(z.looseObject({ task: z.string() })).catch([]),
      title: z.string().catch(''),
      status: z.string().catch(''),
      result: z.looseObject({ output: z.unknown().optional() }).optional().catch(undefined),
      failure: z.unknown().optional(),
    })
    .optional()
    .catch(undefined),
  dependencies: z.array(DependencyResult).catch([]),
});

function fetchedResult(got: Exchange): DependencyResult {
  const taskId = String(got.input.taskId);
  if (got.isError)
    return { taskId, title: taskId, status: 'unknown', failure: { reason: errorOf(got).detail } };
  const task = parseAs(BoardGetAnswer, got.result)?.task;
  const failure = task === undefined ? { reason: 'its result could not be read' } : task.failure;
  return DependencyResult.parse({
    taskId,
    title: task?.title ?? taskId,
    status: task?.status,
    output: task?.result?.output,
    failure,
  });
}

/** IDs of all dependencies: from the task as shown and from its own `board_get`, also when that was cut. */
function dependencyIds(task: AssignedTask, own: Exchange | undefined): string[] {
  const answer = own === undefined || own.isError ? null : parseAs(BoardGetAnswer, own.result);
  const cut = answer === null && own !== undefined && !own.isError ? own.result : '';
  const ids = [
    ...task.dependsOn,
    ...(answer?.task?.dependsOn ?? []).map((edge) => edge.task),
    ...(answer?.dependencies ?? []).map(({ taskId }) => taskId),
    ...Array.from(cut.matchAll(/"(?:taskId|task)":\s*"(t_[^"]+)"/g), (found) => found[1] ?? ''),
  ];
  return [...new Set(ids)].filter((id) => id !== task.taskId);
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function numberIn(page: JsonObject, field: string): number {
  const value = page[field];
  return typeof value === 'number' ? value : 0;
}

/** The pages of a result: its own output, or those that a part has combined before. */
function pagesOf({ output }: DependencyResult): JsonObject[] {
  if (!isObject(output)) return [];
  return Array.isArray(output.pages) ? output.pages.filter(isObject) : [output];
}

function failuresOf(result: DependencyResult): JsonObject[] {
  const { taskId, title, status, output, failure } = result;
  const inner = isObject(output) && Array.isArray(output.failed) ? output.failed.filter(isObject) : [];
  if (status === 'completed' && isObject(output)) return inner;
  const reason =
    failure?.reason || (status === 'completed' ? 'it gave no output' : `it is ${status || 'unknown'}`);
  return [...inner, { taskId, title, reason: Array.from(reason).slice(0, REASON_CHARACTERS).join('') }];
}

function totalsOf(results: readonly DependencyResult[], pages: readonly JsonObject[]): JsonObject {
  // A part whose pages were cut to fit still has true totals.
  const parts = results.flatMap(({ output }) =>
    isObject(output) && isObject(output.totals) ? [output.totals] : [],
  );
  const single = results.flatMap(({ output }) =>
    isObject(output) && !isObject(output.totals)
      ? pagesOf({ taskId: '', title: '', status: '', output })
      : [],
  );
  const sum = (field: string) =>
    [...parts, ...single].reduce((total, source) => total + numberIn(source, field), 0);
  const inParts = parts.reduce((total, part) => total + numberIn(part, 'pages'), 0);
  return {
    pages: parts.length === 0 ? pages.length : inParts + single.length,
    words: sum('words'),
    headings: sum('headings'),
    links: sum('links'),
    codeBlocks: sum('codeBlocks'),
  };
}

function only(page: JsonObject, fields: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(page).filter(([field]) => fields.includes(field)));
}

/** Makes the output fit: first fewer fields a page, then fewer pages; `note` says what was left out. */
function fitted(
  pages: JsonObject[],
  totals: JsonObject,
  failed: JsonObject[],
): { output: JsonObject; note: string } {
  const size = (value: JsonValue) => utf8Bytes(JSON.stringify(value));
  const steps: [JsonObject[], string][] = [
    [pages, ''],
    [
      pages.map((page) => only(page, ['file', 'title', 'words'])),
      ' Pages show file, title and words only, to fit.',
    ],
    [pages.map((page) => only(page, ['file', 'words'])), ' Pages show file and words only, to fit.'],
  ];
  for (const [shown, note] of steps) {
    const output = { pages: shown, totals, failed };
    if (size(output) <= OUTPUT_BYTES) return { output, note };
  }
  const shown: JsonObject[] = [];
  const failedShown: JsonObject[] = [];
  let room = OUTPUT_BYTES - size({ pages: [], totals, failed: [] });
  for (const failure of failed) {
    room -= size(failure) + 1;
    if (room < OUTPUT_BYTES / 2) break;
    failedShown.push(failure);
  }
  for (const page of steps[2]?.[0] ?? []) {
    room -= size(page) + 1;
    if (room < 0) break;
    shown.push(page);
  }
  const note = ` Only ${shown.length} of ${counted(pages.length, 'page')} and ${failedShown.length} of ${counted(failed.length, 'failure')} fit.`;
  return { output: { pages: shown, totals, failed: failedShown }, note };
}

/** Combines the results of the task's dependencies; those that the prompt lacks are fetched first. */
export function combining(conversation: Conversation, task: AssignedTask): Combining {
  const gets = callsOf(conversation, 'board_get');
  const own = gets.findLast(({ input }) => input.taskId === task.taskId);
  const { results: shown, moreDependencies } = shownDependencies(conversation);
  const canGet = conversation.tools.has('board_get');
  if (moreDependencies > 0 && own === undefined && canGet) {
    return {
      state: 'fetching',
      calls: [{ name: 'board_get', input: { taskId: task.taskId, include: ['dependencies'] } }],
    };
  }
  const known = new Map(shown.map((result) => [result.taskId, result]));
  for (const got of gets) if (got !== own) known.set(String(got.input.taskId), fetchedResult(got));
  const ids = dependencyIds(task, own);
  const missing = moreDependencies > 0 && canGet ? ids.filter((id) => !known.has(id)) : [];
  if (missing.length > 0) {
    const calls = missing.slice(0, GETS_A_TURN).map((taskId) => ({ name: 'board_get', input: { taskId } }));
    return { state: 'fetching', calls };
  }
  const results = [...known.values()];
  const pages = results.flatMap((result) => (result.status === 'completed' ? pagesOf(result) : []));
  const failed = results.flatMap(failuresOf);
  const totals = totalsOf(
    results.filter(({ status }) => status === 'completed'),
    pages,
  );
  const { output, note } = fitted(pages, totals, failed);
  const lost = failed.length === 0 ? '' : `, ${failed.length} failed`;
  const unseen = shown.length + moreDependencies - results.length;
  const hidden = unseen > 0 ? ` ${counted(unseen, 'result')} could not be seen.` : '';
  return {
    state: 'done',
    output,
    summary: `${counted(Number(totals.pages), 'page')} combined${lost}.${hidden}${note}`,
  };
}
