import type { Condition } from '@crewboard/contracts';
import type { Answer, Change, NewModelTask, Reference } from './calls.ts';
import { isOutside, taskOf } from './derive.ts';
import { refused } from './refusals.ts';
import type { ModelBoard } from './state.ts';

export interface Link {
  on: number;
  condition: Condition;
}

/** What a batch of adds comes to: which tasks are new, what they depend on, where each of the batch stands. */
export interface AddPlan {
  fresh: { number: number; add: NewModelTask; links: Link[]; replaces?: number }[];
  standing: number[];
  names: Map<string, number>;
}

/** Tasks of the batch whose references of one kind lead back to themselves. */
function hasInnerCycle(
  adds: readonly NewModelTask[],
  referencesOf: (add: NewModelTask) => readonly Reference[],
): boolean {
  const byKey = new Map(adds.flatMap((add) => (add.key === undefined ? [] : [[add.key, add] as const])));
  const above = (add: NewModelTask) =>
    referencesOf(add).flatMap((on) => ('key' in on ? (byKey.get(on.key) ?? []) : []));
  const reaches = (from: NewModelTask, to: NewModelTask, seen: Set<NewModelTask>): boolean =>
    above(from).some((next) => {
      if (next === to) return true;
      if (seen.has(next)) return false;
      seen.add(next);
      return reaches(next, to, seen);
    });
  return adds.some((add) => reaches(add, add, new Set()));
}

/** What is wrong with a batch whatever the board. */
export function refuseShape(call: Change): Answer | undefined {
  const tasks = [...call.edits, ...call.cancels, ...call.reopens].map(({ task }) => task);
  if (new Set(tasks).size < tasks.length) return refused('invalid_argument');
  const keys = call.adds.flatMap((add) => (add.key === undefined ? [] : [add.key]));
  if (new Set(keys).size < keys.length) return refused('duplicate_key');
  const isCyclic =
    hasInnerCycle(call.adds, ({ dependsOn }) => dependsOn.map(({ on }) => on)) ||
    hasInnerCycle(call.adds, ({ replaces }) => (replaces === undefined ? [] : [replaces]));
  return isCyclic ? refused('dependency_cycle') : undefined;
}

/** The task that a reference means: a key or task of the batch, then of the board. */
function numberOf(board: ModelBoard, plan: AddPlan, on: Reference): number | undefined {
  if ('task' in on) return on.task;
  return plan.names.get(on.key) ?? board.tasks.find((task) => task.key === on.key)?.number;
}

/** What references stand for, each task once and in one condition; else the refusal. */
export function linksOf(
  board: ModelBoard,
  plan: AddPlan,
  references: readonly { on: Reference; condition: Condition }[],
): Link[] | Answer {
  const links: Link[] = [];
  for (const { on, condition } of references) {
    const number =
      'task' in on
        ? on.task
        : (plan.names.get(on.key) ?? board.tasks.find((task) => task.key === on.key)?.number);
    const isFresh = plan.fresh.some((entry) => entry.number === number);
    const task = number === undefined ? undefined : taskOf(board, number);
    const canBeNamed = isFresh || (task !== undefined && task.number > 0 && !isOutside(task));
    if (number === undefined || !canBeNamed) return refused('unknown_dependency');
    const earlier = links.find((link) => link.on === number);
    if (earlier === undefined) links.push({ on: number, condition });
    else if (earlier.condition !== condition) return refused('invalid_argument');
  }
  return links;
}

/** Checks a batch of adds: a key that stands with the same content is no new task. */
export function checkAdds(board: ModelBoard, adds: readonly NewModelTask[]): Answer | AddPlan {
  const plan: AddPlan = { fresh: [], standing: [], names: new Map() };
  const last = Math.max(0, ...board.tasks.map((task) => task.number));
  for (const add of adds) {
    const held = add.key === undefined ? undefined : board.tasks.find((task) => task.key === add.key);
    if (held !== undefined && held.content !== JSON.stringify(add)) return refused('duplicate_key');
    const number = held?.number ?? last + plan.fresh.length + 1;
    if (held === undefined) plan.fresh.push({ number, add, links: [] });
    plan.standing.push(number);
    if (add.key !== undefined) plan.names.set(add.key, number);
  }
  if (last + plan.fresh.length > board.settings.maxTasks) return refused('limit_exceeded');
  for (const entry of plan.fresh) {
    const links = linksOf(board, plan, entry.add.dependsOn);
    if (!Array.isArray(links)) return links;
    entry.links = links;
    if (entry.add.replaces === undefined) continue;
    const replaces = numberOf(board, plan, entry.add.replaces);
    if (replaces === undefined || replaces === 0) return refused('unknown_dependency');
    entry.replaces = replaces;
  }
  return plan;
}
