import { type Boards, withoutAbsent } from '@crewboard/board';
import {
  BoardGetInput,
  BoardListInput,
  CrewboardError,
  cursorAfter,
  placeOf,
  type Task,
  type Tool,
  type ToolAnswer,
} from '@crewboard/contracts';
import { decidedAttempts } from './decided-attempts.ts';

/** Of one answer of board_list: lines and bytes at most. */
const LIST_LINES = 50;
const LIST_BYTES = 20_000;
/** Results of dependencies that come with a claim and an agent's first message; the rest is read task by task. */
export const CARRIED_RESULTS = { most: 50, bytesMost: 20_000 } as const;
/** Those that board_get shows. */
const SHOWN_RESULTS = { most: 50, bytesMost: 200_000 } as const;

/** A tool's answer as JSON text. */
export function jsonAnswer(value: unknown, isError = false): ToolAnswer {
  return { content: JSON.stringify(value), isError };
}

const VIEWS = {
  ready: { readiness: 'ready' },
  active: { status: 'in_progress' },
  blocked: { status: 'blocked' },
  review: { status: 'in_review' },
  unreachable: { readiness: 'unreachable' },
  failed: { status: 'failed' },
  proposed: { readiness: 'held' },
  done: { status: 'completed' },
  all: {},
} as const;

function line(task: Task) {
  return withoutAbsent({
    taskId: task.id,
    number: task.number,
    key: task.key,
    title: task.title,
    status: task.status,
    readiness: task.readiness?.state,
    owner: task.owner?.id,
    version: task.version,
  });
}

/** `board_list`: a page of one-line tasks, counts and a cursor; the same for lead and sub-agents. */
export function createBoardListTool(boards: Boards, jobId: string): Tool<BoardListInput> {
  return {
    name: 'board_list',
    description:
      'Lists tasks of the board, one line each, with counts and a cursor for the next page. view: ready, active, blocked, review, unreachable, failed, proposed, done or all (default).',
    inputSchema: BoardListInput,
    readOnly: true,
    async execute({ view = 'all', label, owner, cursor, limit = LIST_LINES }) {
      if (owner !== undefined)
        throw new CrewboardError('invalid_argument', 'owner is not supported yet: use view "active".');
      const after = placeOf('tasks', cursor);
      const page = await boards.page(jobId, {
        ...VIEWS[view],
        after,
        limit,
        ...(label === undefined ? {} : { label }),
      });
      const tasks = [];
      let bytes = 0;
      let nextCursor = page.nextAfter === undefined ? undefined : cursorAfter('tasks', page.nextAfter);
      const wanted = (task: Task) =>
        view !== 'proposed' || (task.readiness?.state === 'held' && task.readiness.cause === 'proposal');
      for (const task of page.tasks.filter(wanted)) {
        const shown = line(task);
        bytes += Buffer.byteLength(JSON.stringify(shown)) + 1;
        if (bytes > LIST_BYTES && tasks.length > 0) {
          nextCursor = cursorAfter('tasks', tasks.at(-1)?.number ?? after);
          break;
        }
        tasks.push(shown);
      }
      return jsonAnswer(withoutAbsent({ counts: page.counts, tasks, nextCursor }));
    },
  };
}

/** What of a dependency a dependent's agent is shown. */
export function dependencyResult(task: Task) {
  return withoutAbsent({
    taskId: task.id,
    title: task.title,
    status: task.status,
    summary: task.result?.summary,
    output: task.result?.output,
    artifacts: task.result?.artifacts,
    failure: task.failure,
  });
}

/**
 * The results of a task's dependencies in their order: at most `most` and about `bytesMost` of JSON, and how many
 * more there are.
 */
export async function dependencyResults(
  boards: Boards,
  jobId: string,
  task: Task,
  { most, bytesMost }: { most: number; bytesMost: number },
): Promise<{ results: ReturnType<typeof dependencyResult>[]; moreDependencies: number }> {
  const ids = task.dependsOn.map((edge) => edge.task);
  const results: ReturnType<typeof dependencyResult>[] = [];
  let bytes = 0;
  for (const found of await boards.readTasks(jobId, ids.slice(0, most), true)) {
    if (found === undefined) continue;
    const result = dependencyResult(found);
    bytes += Buffer.byteLength(JSON.stringify(result));
    if (bytes > bytesMost && results.length > 0) break;
    results.push(result);
  }
  return { results, moreDependencies: ids.length - results.length };
}

/** `board_get`: one task whole, with what was asked to be included. */
export function createBoardGetTool(boards: Boards, jobId: string): Tool<BoardGetInput> {
  return {
    name: 'board_get',
    description:
      'Shows one task whole. include: "dependencies" (their status and results), "attempts" (how earlier ones ended), "events" (the newest of its log), "evidence".',
    inputSchema: BoardGetInput,
    readOnly: true,
    async execute({ taskId, include = [] }) {
      const task = await boards.task(jobId, taskId);
      const { evidence, ...rest } = task;
      const answer: Record<string, unknown> = { task: include.includes('evidence') ? task : rest };
      if (include.includes('dependencies')) {
        const { results, moreDependencies } = await dependencyResults(boards, jobId, task, SHOWN_RESULTS);
        Object.assign(answer, { dependencies: results, moreDependencies });
      }
      if (include.includes('attempts'))
        answer.attempts = decidedAttempts(task, await boards.attempts(jobId, taskId, task.attempt));
      if (include.includes('events')) answer.events = await boards.taskEvents(jobId, taskId, 50);
      return jsonAnswer(answer);
    },
  };
}
