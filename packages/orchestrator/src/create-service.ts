import { type Boards, type RedisClient, withoutAbsent } from '@crewboard/board';
import {
  type Actor,
  CrewboardError,
  cursorAfter,
  type EventList,
  isEnded,
  type Job,
  type JobResult,
  type NewTask,
  placeOf,
  type Ready,
  type ResultLine,
  type TaskListQuery,
} from '@crewboard/contracts';
import type { ArtifactStore } from '@crewboard/tools';
import type { DeleteJob } from './archive/delete-job.ts';
import { artifactService } from './artifacts/artifact-service.ts';
import { cancelPublisher } from './cancel-channel.ts';
import { type CheckRules, createCheckRules } from './checks/check-rules.ts';
import { claimService } from './claim-service.ts';
import { refuseUnfitCommands } from './command-tasks.ts';
import { createdByKey } from './created.ts';
import type { DataFolderWatch } from './data-folder.ts';
import { deletionService } from './deletion-service.ts';
import type { EventHub } from './event-hub.ts';
import { findTask } from './find-task.ts';
import { followEvents } from './follow-events.ts';
import { holderService } from './holder-service.ts';
import { jobService } from './job-service.ts';
import { spendOf } from './job-view.ts';
import { type JobViews, jobViews } from './job-views.ts';
import { keyService } from './keys/key-service.ts';
import { createKeyStore } from './keys/key-store.ts';
import { createListJobs } from './list-jobs.ts';
import { createLoopGuard } from './loop-guard.ts';
import { personRequest } from './person-request.ts';
import { personService } from './person-service.ts';
import { modelsOf, pricesOf, refuseUnpriced } from './prices.ts';
import { readWanted } from './read-wanted.ts';
import { redisTrouble } from './redis-trouble.ts';
import { rerunService } from './rerun-service.ts';
import type { LogPlace, Scope, Service } from './service.ts';
import { defaultProvider, needsModel, noModel, type Settings } from './settings.ts';
import { isSimulated } from './simulated.ts';
import { steerService } from './steer-service.ts';
import { createSubmitJob } from './submit-job.ts';
import { sieveOf } from './task-filter.ts';
import { visibleJob } from './visible-job.ts';
import type { ConnectionWatch } from './watch-connections.ts';
import { within } from './within.ts';
import { servedProviders } from './worker-registry.ts';

const PAGE_DEFAULT = 50;
/** What asks whether a server is ready does not wait long itself. */
const READY_WITHIN_MS = 2000;

export interface ServiceDependencies {
  boards: Boards;
  redis: RedisClient;
  hub: EventHub;
  settings: Settings;
  artifacts: ArtifactStore;
  /** Knows of connections that do not answer; absent: nobody watches them. */
  watch?: Pick<ConnectionWatch, 'trouble'>;
  deleteJob: DeleteJob;
  /** Knows whether the data folder takes writes; absent: nobody looks. */
  dataFolder?: DataFolderWatch;
  /** Whether the server has a key of its environment; absent: it has none. */
  hasEnvironmentKey?: boolean;
}

type CheckedDependencies = ServiceDependencies & { checkRules: CheckRules };

/** Everything about jobs as a whole. */
function jobCalls(
  { boards, redis, settings, checkRules, watch, dataFolder }: CheckedDependencies,
  { view, views }: JobViews,
) {
  const publishCancel = cancelPublisher(redis, settings.prefix);
  return {
    ...createSubmitJob({ boards, settings, checkRules }),
    ...jobService({ boards, settings, view }),

    async getJob(scope: Scope, jobId: string): Promise<Job> {
      return view(await visibleJob(boards, scope, jobId));
    },

    listJobs: createListJobs({ boards, views }),

    async cancelJob(scope: Scope, jobId: string, reason?: string, idempotencyKey?: string): Promise<Job> {
      await visibleJob(boards, scope, jobId);
      const { request } = personRequest(idempotencyKey, 'cancel job', reason);
      const why = reason ?? 'cancelled by a person';
      if (await boards.cancelJob(jobId, `user:${scope.caller}`, why, request)) {
        await publishCancel(jobId);
      }
      return view(await boards.job(jobId));
    },

    async getResult(scope: Scope, jobId: string): Promise<JobResult> {
      const state = await visibleJob(boards, scope, jobId);
      return withoutAbsent({
        jobId,
        status: state.status,
        summary: state.result?.summary,
        output: state.result?.output,
        counts: state.counts,
        spend: spendOf(state),
        simulated: isSimulated(state),
      });
    },

    async ready(): Promise<Ready> {
      const tried = () => within(redisTrouble(redis, boards.keys.global('ready')), READY_WITHIN_MS);
      const trouble = watch?.trouble() ?? (await tried());
      const lost = trouble === 'late' ? 'redis: it does not answer' : trouble;
      const reason = lost ?? (await dataFolder?.trouble());
      return withoutAbsent({
        ready: reason === undefined,
        redis: lost === undefined ? 'ok' : 'down',
        reason,
        model: defaultProvider(settings) ?? 'none',
      });
    },
  };
}

/** Everything about a job's tasks. */
function taskCalls({ boards, settings, checkRules }: CheckedDependencies) {
  return {
    async listTasks(scope: Scope, jobId: string, query: TaskListQuery) {
      await visibleJob(boards, scope, jobId);
      const { cursor, limit = PAGE_DEFAULT, key, class: failureClass, ...filter } = query;
      const { tasks, nextAfter, asOf } = await boards.page(jobId, {
        ...filter,
        fits: sieveOf({ key, class: failureClass }),
        after: placeOf('tasks', cursor),
        limit,
      });
      return withoutAbsent({
        tasks,
        nextCursor: nextAfter === undefined ? undefined : cursorAfter('tasks', nextAfter),
        asOf,
      });
    },

    async getTask(scope: Scope, jobId: string, taskId: string) {
      await visibleJob(boards, scope, jobId);
      return findTask(boards, jobId, taskId);
    },

    async addTasks(scope: Scope, jobId: string, tasks: NewTask[], idempotencyKey?: string) {
      const { spec } = await visibleJob(boards, scope, jobId);
      await refuseUnfitCommands(tasks, {
        commands: settings.commands,
        hasWorkspace: spec.workspace !== undefined,
      });
      await checkRules.refuseUnfitTasks(tasks, spec);
      if (needsModel(tasks) && settings.providers[spec.provider] === undefined)
        throw noModel('one of the tasks');
      refuseUnpriced(
        pricesOf(spec.provider, settings.prices),
        modelsOf(tasks, spec.models.worker, spec.limits),
      );
      const by: Actor = { kind: 'user', id: scope.caller };
      const added = await boards.add(jobId, {
        tasks,
        by,
        ...personRequest(idempotencyKey, 'add', tasks),
      });
      return { created: createdByKey(tasks, added), tasks: added };
    },

    async *resultLines(scope: Scope, jobId: string): AsyncGenerator<ResultLine> {
      await visibleJob(boards, scope, jobId);
      for (let after: number | undefined = 0; after !== undefined; ) {
        const page = await boards.page(jobId, { after, limit: 100, full: true, planned: true });
        for (const task of page.tasks) {
          yield withoutAbsent({
            key: task.key,
            taskId: task.id,
            number: task.number,
            title: task.title,
            status: task.status,
            summary: task.result?.summary,
            output: task.result?.output,
            failure: task.failure,
            attempts: task.attempt,
            usage: task.usage,
          });
        }
        after = page.nextAfter;
      }
    },
  };
}

/** A page after an event that is not there would be a guess: what came between would be missing from it. */
function noSuchEvent(id: string, asOf: string): CrewboardError {
  return new CrewboardError(
    'not_found',
    `event ${id} is not in the log of this job. Read the log from its start (without "after"), or list the tasks and go on after ${asOf}.`,
    { asOf, retry: 'after_refresh' },
  );
}

/** Everything about a job's log. */
function eventCalls({ boards, hub }: ServiceDependencies) {
  return {
    async listEvents(
      scope: Scope,
      jobId: string,
      { after = '0-0', filter = {} }: LogPlace = {},
      limit = PAGE_DEFAULT,
    ): Promise<EventList> {
      const { asOf } = await visibleJob(boards, scope, jobId);
      if (after !== '0-0' && !(await boards.hasEvent(jobId, after))) throw noSuchEvent(after, asOf);
      const { events, last } = await readWanted(boards, jobId, after, { filter, limit });
      const more = last !== undefined && last !== asOf;
      return withoutAbsent({ events, nextCursor: more ? last : undefined, asOf });
    },

    followEvents: (scope: Scope, jobId: string, from: LogPlace, signal: AbortSignal) =>
      followEvents({ boards, hub, seeJob: () => visibleJob(boards, scope, jobId) }, jobId, from, signal),

    async isCaughtUp(scope: Scope, jobId: string, after: string): Promise<boolean> {
      const { status, asOf } = await visibleJob(boards, scope, jobId);
      return isEnded(status) && asOf === after;
    },
  };
}

/** Everything that the API can ask of the orchestrator, over one Redis. */
export function createService(dependencies: ServiceDependencies): Service {
  const { boards, redis, settings, artifacts, deleteJob } = dependencies;
  const servedBy = servedProviders(redis, settings.prefix);
  const checkRules = createCheckRules(settings.commands);
  const views = jobViews(boards, servedBy);
  const holders = { boards, settings, guard: createLoopGuard() };
  return {
    ...jobCalls({ ...dependencies, checkRules }, views),
    ...taskCalls({ ...dependencies, checkRules }),
    ...eventCalls(dependencies),
    ...artifactService({ boards, artifacts }),
    ...deletionService({ boards, deleteJob }),
    ...keyService({
      store: createKeyStore(redis, settings.prefix),
      hasEnvironmentKey: dependencies.hasEnvironmentKey ?? false,
    }),
    ...claimService(holders),
    ...holderService(holders),
    ...rerunService({ boards }),
    ...steerService({ boards, settings, view: views.view }),
    ...personService({
      boards,
      settings,
      checkRules,
      servedBy,
      publishCancel: cancelPublisher(redis, settings.prefix),
    }),
  };
}
