import { type AddPlan, checkAdds, type Link, linksOf, refuseShape } from './adds.ts';
import type { Answer, Change, Patch } from './calls.ts';
import { dependsOn, hasEnded, isOutside, leadOf, plannedOf, readinessOf } from './derive.ts';
import { newEdge, restartSlices } from './edges.ts';
import {
  announceLoss,
  cancelTask,
  cascadeOn,
  conclude,
  fillWindow,
  liftPauses,
  log,
  mustHave,
  queueLead,
  reconsider,
  settleDown,
  tellDependents,
} from './follow.ts';
import { changeRefusal, earlierAnswer, leadRefusal, nameOf, refused } from './refusals.ts';
import { type ModelBoard, type ModelTask, newTask } from './state.ts';

/** Adds what was checked; returns where each task of the batch stands. */
export function applyAdds(board: ModelBoard, plan: AddPlan, hold: '' | 'proposal'): number[] {
  for (const { number, add, links, replaces } of plan.fresh) {
    const task = newTask(number, {
      title: add.title,
      content: JSON.stringify(add),
      priority: add.priority,
      executor: add.executor,
      onLost: add.onLost,
      maxAttempts: add.maxAttempts ?? board.settings.maxAttempts,
      ...(add.key === undefined ? {} : { key: add.key }),
    });
    task.hold = hold;
    if (replaces !== undefined) task.replaces = replaces;
    task.dependsOn = links.map((link) => newEdge(board, link));
    board.tasks.push(task);
    log(board, hold === 'proposal' ? 'task.proposed' : 'task.added', task);
  }
  if (board.status === 'planning' && plan.fresh.length > 0) {
    board.status = 'running';
    log(board, 'job.running');
  }
  for (const { number } of plan.fresh) settleDown(board, mustHave(board, number));
  return plan.standing;
}

interface CheckedEdit {
  edit: Change['edits'][number];
  links?: Link[];
}

function checkEdit(board: ModelBoard, plan: AddPlan, edit: Change['edits'][number]): Answer | CheckedEdit {
  const task = board.tasks.find((other) => other.number === edit.task);
  if (edit.task === 0 && task !== undefined) return refused('invalid_transition');
  const refusal = changeRefusal(task, edit.version, false);
  if (refusal !== undefined || task === undefined) return refusal ?? refused('not_found');
  if (edit.patch.replaces === 0) return refused('unknown_dependency');
  if (edit.patch.dependsOn === undefined) return { edit };
  const isFree = task.status === 'blocked' || (task.status === 'pending' && task.hold !== 'proposal');
  if (!isFree) return refused('invalid_transition');
  const links = linksOf(board, plan, edit.patch.dependsOn);
  if (!Array.isArray(links)) return links;
  return links.some(({ on }) => on === edit.task) ? refused('dependency_cycle') : { edit, links };
}

/** Edits after which a task stands in its own place, over any number of others. */
function replacesItself(board: ModelBoard, plan: AddPlan, edits: readonly CheckedEdit[]): boolean {
  const places = new Map(board.tasks.map((task) => [task.number, task.replaces]));
  for (const { number, replaces } of plan.fresh) places.set(number, replaces);
  for (const { edit } of edits)
    if (edit.patch.replaces !== undefined) places.set(edit.task, edit.patch.replaces);
  return edits.some(({ edit }) => {
    const seen = new Set<number>();
    for (let at = edit.patch.replaces; at !== undefined && !seen.has(at); at = places.get(at)) {
      if (at === edit.task) return true;
      seen.add(at);
    }
    return false;
  });
}

/** Edits that close a cycle over what the batch and the board make of the graph. */
function closesCycle(board: ModelBoard, plan: AddPlan, edits: readonly CheckedEdit[]): boolean {
  const changed = new Map<number, number[]>();
  for (const { number, links } of plan.fresh)
    changed.set(
      number,
      links.map((link) => link.on),
    );
  for (const { edit, links } of edits)
    if (links !== undefined)
      changed.set(
        edit.task,
        links.map(({ on }) => on),
      );
  return edits.some(
    ({ edit, links }) => links !== undefined && dependsOn(board, edit.task, edit.task, changed),
  );
}

function setDependencies(board: ModelBoard, task: ModelTask, links: readonly Link[]): void {
  const old = task.dependsOn;
  const kept = (link: Link) => old.find((edge) => edge.on === link.on && edge.condition === link.condition);
  task.dependsOn = links.map((link) => kept(link) ?? newEdge(board, link));
  for (const edge of old) if (!task.dependsOn.includes(edge)) restartSlices(board, edge.on);
}

/** True when the task is already what the edit would make of it. */
function changesNothing(task: ModelTask, { edit, links }: CheckedEdit): boolean {
  const { dependsOn: _, ...values } = edit.patch;
  const before: Record<string, unknown> = { ...task };
  const isSame = Object.entries(values).every(
    ([name, value]) => value === undefined || value === before[name],
  );
  if (!isSame || links === undefined) return isSame;
  const has = ({ on, condition }: Link) =>
    task.dependsOn.some((edge) => edge.on === on && edge.condition === condition);
  return links.length === task.dependsOn.length && links.every(has);
}

function applyEdit(board: ModelBoard, { edit, links }: CheckedEdit): void {
  const task = mustHave(board, edit.task);
  if (changesNothing(task, { edit, links })) return;
  const { title, priority, executor, maxAttempts, onLost, replaces }: Patch = edit.patch;
  const wasUnreachable = task.status === 'pending' && readinessOf(task) === 'unreachable';
  const wasLost = task.onLost;
  reconsider(board, task, () => {
    if (links !== undefined) setDependencies(board, task, links);
    task.title = title ?? task.title;
    task.priority = priority ?? task.priority;
    task.executor = executor ?? task.executor;
    task.maxAttempts = maxAttempts ?? task.maxAttempts;
    task.onLost = onLost ?? task.onLost;
    if (replaces !== undefined) task.replaces = replaces;
    task.version += 1;
  });
  log(board, 'task.edited', task);
  // A pending task that can't be reached is cancelled when it comes to ask for that.
  const isUnreachable = task.status === 'pending' && readinessOf(task) === 'unreachable';
  if (wasUnreachable && isUnreachable && wasLost === 'hold' && task.onLost === 'cancel')
    announceLoss(board, task);
}

/** Opens an ended job again; a lead that ended well, and is not itself reopened, waits for news. */
export function reopenJob(board: ModelBoard, reopensLead: boolean): void {
  if (!hasEnded(board)) return;
  board.status = 'running';
  board.cancelling = false;
  log(board, 'job.reopened');
  const lead = leadOf(board);
  if (lead === undefined || (lead.status !== 'completed' && lead.status !== 'cancelled')) return;
  board.unread = false;
  if (reopensLead) return;
  lead.version += 1;
  lead.status = 'pending';
  lead.hold = 'news';
  log(board, 'task.reopened', lead);
}

/** A terminal task is pending again; returns the dependents that have started already. */
export function reopenTask(board: ModelBoard, task: ModelTask): number[] {
  const started = plannedOf(board).filter((dependent) =>
    dependent.dependsOn.some(({ on }) => on === task.number),
  );
  task.version += 1;
  task.status = 'pending';
  task.failures = 0;
  task.strikes = 0;
  task.sticky = false;
  task.hold = '';
  delete task.notBefore;
  delete task.failure;
  delete task.block;
  log(board, 'task.reopened', task);
  if (task.number === 0) {
    board.leadFailure = '';
    queueLead(board, task);
    return [];
  }
  task.requests = [];
  tellDependents(board, task.number);
  settleDown(board, task);
  return started
    .filter((dependent) => !['pending', 'cancelled'].includes(dependent.status) && !isOutside(dependent))
    .map((dependent) => dependent.number);
}

function checkAll(board: ModelBoard, call: Change): Answer | { plan: AddPlan; edits: CheckedEdit[] } {
  const plan = checkAdds(board, call.adds);
  if ('word' in plan) return plan;
  const edits: CheckedEdit[] = [];
  for (const edit of call.edits) {
    const checked = checkEdit(board, plan, edit);
    if ('word' in checked) return checked;
    edits.push(checked);
  }
  for (const { task: number, version } of call.cancels) {
    const task = board.tasks.find((other) => other.number === number);
    if (number === 0 && task !== undefined) return refused('invalid_transition');
    const refusal = changeRefusal(task, version, false);
    if (refusal !== undefined) return refusal;
  }
  for (const { task: number, version } of call.reopens) {
    const task = board.tasks.find((other) => other.number === number);
    const refusal = changeRefusal(task, version, true);
    if (refusal !== undefined) return refusal;
  }
  const isCyclic = closesCycle(board, plan, edits) || replacesItself(board, plan, edits);
  return isCyclic ? refused('dependency_cycle') : { plan, edits };
}

/** A batch of changes by people or the lead, all or nothing. */
export function change(board: ModelBoard, call: Change): Answer {
  const shape = refuseShape(call);
  if (shape !== undefined) return shape;
  const token = leadRefusal(board, call.lead);
  if (token?.data === 'not_owner') return token;
  const content = JSON.stringify([call.adds, call.edits, call.cancels, call.reopens]);
  const name = nameOf(call);
  const earlier = earlierAnswer(board, name, content);
  if (earlier !== undefined) return 'word' in earlier ? earlier : { word: 'ok', data: earlier.data };
  if (token !== undefined) return token;
  const onlyReopens = call.adds.length + call.edits.length + call.cancels.length === 0;
  if (hasEnded(board) ? !onlyReopens : board.cancelling) return refused('terminal');
  const checked = checkAll(board, call);
  if ('word' in checked) return checked;

  const added = applyAdds(board, checked.plan, '');
  for (const edit of checked.edits) applyEdit(board, edit);
  for (const { task: number, cascade } of call.cancels) {
    cancelTask(board, mustHave(board, number));
    if (cascade) cascadeOn(board, number, 0);
  }
  if (call.reopens.length > 0)
    reopenJob(
      board,
      call.reopens.some(({ task }) => task === 0),
    );
  const started = call.reopens.flatMap(({ task: number }) => reopenTask(board, mustHave(board, number)));
  if (checked.plan.fresh.length + call.reopens.length > 0) liftPauses(board, 'stall');
  // What was only added or opened again may stand behind something lost: the sweeper ends such a job, not this call.
  if (call.cancels.length + call.edits.length > 0) conclude(board);
  else fillWindow(board);
  const changed = [...call.edits, ...call.cancels, ...call.reopens].map(({ task: number }) => [
    number,
    mustHave(board, number).version,
  ]);
  const data = { added, changed, started: started.sort() };
  if (name !== undefined) board.answers.push({ request: name, content, data });
  return { word: 'ok', data };
}
