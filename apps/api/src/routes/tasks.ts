import { AddTasksAnswer, AddTasksBody, Task, TaskList, TaskListQuery } from '@crewboard/contracts';
import type { Service } from '@crewboard/orchestrator';
import { BARE, guardedRoute, json, type Route } from '../route.ts';
import { IdempotencyHeaders, JobPath, TaskPath } from './shapes.ts';

/** Returns the routes of tasks: list, add, read. */
export function taskRoutes(service: Service): Route[] {
  return [
    guardedRoute({
      ...BARE,
      method: 'GET',
      name: 'listTasks',
      path: '/v1/jobs/:id/tasks',
      summary: 'List the tasks of a job in plan order',
      access: 'read',
      params: JobPath,
      query: TaskListQuery,
      answer: TaskList,
      handler: async ({ params, query }, caller) => json(await service.listTasks(caller, params.id, query)),
    }),
    guardedRoute({
      ...BARE,
      method: 'POST',
      name: 'addTasks',
      path: '/v1/jobs/:id/tasks',
      summary: 'Add tasks, all or none',
      access: 'submit',
      params: JobPath,
      headers: IdempotencyHeaders,
      body: AddTasksBody,
      example: { tasks: [{ key: 'readme', title: 'Summarise README.md' }] },
      answer: AddTasksAnswer,
      status: 201,
      handler: async ({ params, body, headers }, caller) =>
        json(await service.addTasks(caller, params.id, body.tasks, headers['idempotency-key'])),
    }),
    guardedRoute({
      ...BARE,
      method: 'GET',
      name: 'readTask',
      path: '/v1/jobs/:id/tasks/:taskId',
      summary: 'Read a task with its texts',
      access: 'read',
      params: TaskPath,
      answer: Task,
      handler: async ({ params }, caller) => json(await service.getTask(caller, params.id, params.taskId)),
    }),
  ];
}
