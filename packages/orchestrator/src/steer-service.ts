import { type Boards, withoutAbsent } from '@crewboard/board';
import type { Actor } from '@crewboard/contracts';
import { noSuchTask } from './find-task.ts';
import type { JobViews } from './job-views.ts';
import { personRequest } from './person-request.ts';
import type { Scope, SteerCalls } from './service.ts';
import { needsModel, noModel, type Settings } from './settings.ts';
import { visibleJob } from './visible-job.ts';

interface SteerDependencies {
  boards: Boards;
  settings: Settings;
  view: JobViews['view'];
}

const userOf = (scope: Scope): Actor => ({ kind: 'user', id: scope.caller });

/** How people steer a job; see SteerCalls. */
export function steerService({ boards, settings, view }: SteerDependencies): SteerCalls {
  /** The plan that is decided about: the one that was seen, else the last one. Whether it waits is the board's to say. */
  async function planOf(jobId: string, seen: number | undefined) {
    const { pending, proposed } = await boards.planState(jobId);
    const version = seen ?? proposed;
    return { version, tasks: pending?.version === version ? pending.tasks : [] };
  }

  return {
    async sendMessage(scope, jobId, { text, target }, idempotencyKey) {
      await visibleJob(boards, scope, jobId);
      const taskId = target === 'lead' ? undefined : target;
      if (taskId !== undefined && (await boards.readTasks(jobId, [taskId], false))[0] === undefined)
        throw await noSuchTask(boards, jobId, taskId);
      const message = withoutAbsent({ by: userOf(scope), text, taskId });
      const request = personRequest(idempotencyKey, 'message', target, text);
      return { messageId: await boards.sendMessage(jobId, { ...message, ...request }) };
    },

    async approvePlan(scope, jobId, body, idempotencyKey) {
      const { spec } = await visibleJob(boards, scope, jobId);
      const { version, tasks } = await planOf(jobId, body.version);
      if (needsModel(tasks) && settings.providers[spec.provider] === undefined)
        throw noModel('one of the tasks');
      await boards.change(jobId, {
        adds: tasks,
        by: userOf(scope),
        approve: version,
        ...personRequest(idempotencyKey, 'approve plan', body.version),
      });
      return view(await boards.job(jobId));
    },

    async rejectPlan(scope, jobId, { text = '', ...body }, idempotencyKey) {
      await visibleJob(boards, scope, jobId);
      const { version } = await planOf(jobId, body.version);
      const request = personRequest(idempotencyKey, 'reject plan', body.version, text);
      await boards.rejectPlan(jobId, { by: userOf(scope), version, text, ...request });
      return view(await boards.job(jobId));
    },
  };
}
