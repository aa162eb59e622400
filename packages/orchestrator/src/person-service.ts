import {
  type Boards,
  type ChangeInput,
  type JobState,
  type PersonRequest,
  withoutAbsent,
} from '@crewboard/board';
import {
  type Actor,
  type ChangedTask,
  CrewboardError,
  cursorAfter,
  placeOf,
  type Task,
  transcriptPage,
} from '@crewboard/contracts';
import type { PublishCancel } from './cancel-channel.ts';
import type { CheckRules } from './checks/check-rules.ts';
import { refuseUnfitCommandEdit } from './command-tasks.ts';
import { decidedAttempts } from './decided-attempts.ts';
import { findTask } from './find-task.ts';
import { personRequest } from './person-request.ts';
import { modelsOf, pricesOf, refuseUnpriced } from './prices.ts';
import type { PersonCalls, Scope } from './service.ts';
import { needsModel, noModel, type Settings } from './settings.ts';
import { visibleJob } from './visible-job.ts';
import { warningsOf } from './warnings.ts';
import { createWhy } from './why.ts';
import type { ServedBy } from './worker-registry.ts';

const PAGE_DEFAULT = 50;

interface PersonDependencies {
  boards: Boards;
  settings: Settings;
  checkRules: CheckRules;
  publishCancel: PublishCancel;
  servedBy: ServedBy;
}

const userOf = (scope: Scope): Actor => ({ kind: 'user', id: scope.caller });

/** Task 0 is the lead's own: its run ends by the lead, its failure can be retried. */
function refuseLead(task: Task, action: string): void {
  if (task.number > 0) return;
  throw new CrewboardError(
    'forbidden',
    `task 0 is the lead: people may read and retry it, not ${action} it.`,
  );
}

/** The ID of the lead's task. Errors: `not_found` for a job that has none. */
function leadOf({ lead, spec }: JobState): string {
  if (lead !== undefined) return lead;
  throw new CrewboardError(
    'not_found',
    `${spec.id} has no lead: it was submitted without a goal. Name one of its tasks.`,
    { next: { call: 'list_tasks' } },
  );
}

interface Found {
  state: JobState;
  task: Task;
}

/** Runs `work`; its refusal says how the task is now. */
async function told<Answer>(
  boards: Boards,
  found: Found,
  work: (found: Found) => Promise<Answer>,
): Promise<Answer> {
  try {
    return await work(found);
  } catch (error) {
    throw await boards.aboutTask(error, found.state.spec.id, found.task.id, 'person');
  }
}

/** What people do with tasks; see PersonCalls. */
export function personService({
  boards,
  settings,
  checkRules,
  publishCancel,
  servedBy,
}: PersonDependencies): PersonCalls {
  const whyOf = createWhy(boards, servedBy);

  async function open(scope: Scope, jobId: string, taskId: string) {
    const state = await visibleJob(boards, scope, jobId);
    return { state, task: await findTask(boards, jobId, taskId) };
  }

  async function change(
    scope: Scope,
    { spec }: JobState,
    changes: Pick<ChangeInput, 'edits' | 'cancels' | 'reopens'>,
    request: { request?: PersonRequest } = {},
  ) {
    return boards.change(spec.id, { ...changes, by: userOf(scope), ...request });
  }

  /** The task after a change that left it open, with what that means for it. */
  async function changed(jobId: string, taskId: string): Promise<ChangedTask> {
    const task = await boards.task(jobId, taskId);
    return withoutAbsent({ ...task, warnings: warningsOf(task) });
  }

  return {
    editTask: async (scope, jobId, taskId, { version, ...patch }) =>
      told(boards, await open(scope, jobId, taskId), async ({ state, task }) => {
        refuseLead(task, 'edit');
        refuseUnfitCommandEdit(task, patch, 'the task', {
          commands: settings.commands,
          hasWorkspace: state.spec.workspace !== undefined,
        });
        // Of another version nothing is known here, and the board refuses it.
        if (task.version === version) checkRules.refuseUnfitEdit(task, patch, '', state.spec);
        const forAgent = patch.executor !== undefined && needsModel([patch]);
        if (forAgent && settings.providers[state.spec.provider] === undefined) throw noModel('this task');
        const { models, limits, provider } = state.spec;
        const model = patch.model === undefined ? task.model : (patch.model ?? undefined);
        const edited = {
          ...task,
          ...withoutAbsent({ executor: patch.executor, limits: patch.limits ?? undefined }),
          model,
        };
        const called = modelsOf([edited], models.worker, limits, () => 'model');
        refuseUnpriced(pricesOf(provider, settings.prices), called);
        await change(scope, state, { edits: [{ taskId, version, patch }] });
        return changed(jobId, taskId);
      }),

    decideTask: async (scope, jobId, taskId, { decision, version, text = '' }, idempotencyKey) =>
      told(boards, await open(scope, jobId, taskId), async ({ task }) => {
        refuseLead(task, decision);
        await boards.resolve(jobId, {
          taskId,
          version,
          decision,
          text,
          by: userOf(scope),
          ...personRequest(idempotencyKey, decision, taskId, version, text),
        });
        const isDropped = decision === 'reject' && task.status === 'pending';
        return isDropped ? boards.task(jobId, taskId) : changed(jobId, taskId);
      }),

    cancelTask: async (scope, jobId, taskId, { version, reason, dependents }, idempotencyKey) =>
      told(boards, await open(scope, jobId, taskId), async ({ state, task }) => {
        refuseLead(task, 'cancel');
        const cancel = { taskId, version, reason: reason ?? 'cancelled by a person', dependents };
        const request = personRequest(idempotencyKey, 'cancel', taskId, version, reason, dependents);
        await change(scope, state, { cancels: [cancel] }, request);
        // With its dependents others may end, too: their workers learn it with the next heartbeat.
        await publishCancel(jobId, taskId);
        return boards.task(jobId, taskId);
      }),

    reopenTask: async (scope, jobId, taskId, { version, reason, action }, idempotencyKey) =>
      told(boards, await open(scope, jobId, taskId), async ({ state, task }) => {
        if (action === 'reopen') refuseLead(task, action);
        // Before and after: a crash between the two leaves a job that is looked after, and a sweep in between takes an
        // ended one off the list.
        await boards.index.addLive(jobId);
        const reopens = [{ taskId, version, reason: reason ?? `${action} by a person` }];
        const request = personRequest(idempotencyKey, action, taskId, version, reason);
        const { startedDependents } = await change(scope, state, { reopens }, request);
        await boards.index.addLive(jobId);
        return { ...(await changed(jobId, taskId)), startedDependents };
      }),

    async listAttempts(scope, jobId, taskId, { cursor, limit = PAGE_DEFAULT }) {
      // The state is read before the attempts: what happens in between is in both, and missing from neither.
      const { state, task } = await open(scope, jobId, taskId);
      const after = placeOf('attempts', cursor);
      const last = Math.min(task.attempt, after + limit);
      const attempts = last > after ? await boards.attempts(jobId, taskId, last, last - after) : [];
      return withoutAbsent({
        attempts: decidedAttempts(task, attempts),
        nextCursor: last < task.attempt ? cursorAfter('attempts', last) : undefined,
        asOf: state.asOf,
      });
    },

    async readTranscript(scope, jobId, wanted, { cursor, limit = PAGE_DEFAULT }) {
      const taskId = wanted ?? leadOf(await visibleJob(boards, scope, jobId));
      await open(scope, jobId, taskId);
      const journal = await boards.readJournal(jobId, taskId);
      return transcriptPage(taskId, journal, { cursor, limit });
    },

    async explainTask(scope, jobId, taskId) {
      const { state, task } = await open(scope, jobId, taskId);
      return whyOf(state, task);
    },
  };
}
