import { AddTasksAnswer, Task, TaskList } from '@crewboard/contracts';
import { expect, test } from 'vitest';
import { AS_ADMIN, openApp } from './open-app.ts';
import { JOB_ID, NO_JOB_ID, TASK_ID } from './records.ts';

const tasksUrl = (url: string) => `${url}/v1/jobs/${JOB_ID}/tasks`;

test('lists tasks by status, readiness and several labels', async () => {
  await using app = await openApp();
  const query = 'status=pending&readiness=ready&label=a&label=b&limit=100';
  const answer = await fetch(`${tasksUrl(app.url)}?${query}`, { headers: AS_ADMIN });
  expect(TaskList.parse(await answer.json())).toMatchObject({ asOf: '1-0', tasks: [{ id: TASK_ID }] });
  expect(app.fake.calls).toMatchObject([
    {
      method: 'listTasks',
      args: [JOB_ID, { status: 'pending', readiness: 'ready', label: ['a', 'b'], limit: 100 }],
    },
  ]);
});

test('adds tasks and passes the Idempotency-Key on', async () => {
  await using app = await openApp();
  const answer = await fetch(tasksUrl(app.url), {
    method: 'POST',
    headers: { ...AS_ADMIN, 'content-type': 'application/json', 'idempotency-key': 'batch-1' },
    body: JSON.stringify({ tasks: [{ title: 'Summarise LICENSE' }] }),
  });
  expect(answer.status).toBe(201);
  AddTasksAnswer.parse(await answer.json());
  expect(app.fake.calls).toMatchObject([
    { method: 'addTasks', args: [JOB_ID, [{ title: 'Summarise LICENSE' }], 'batch-1'] },
  ]);
});

test('reads one task, and names near ones for a task that is not there', async () => {
  await using app = await openApp();
  const found = await fetch(`${tasksUrl(app.url)}/${TASK_ID}`, { headers: AS_ADMIN });
  expect(Task.parse(await found.json()).id).toBe(TASK_ID);
  const missing = await fetch(`${tasksUrl(app.url)}/t_abcd2346`, { headers: AS_ADMIN });
  expect(missing.status).toBe(404);
  expect(await missing.json()).toMatchObject({ code: 'not_found', nearest: [TASK_ID] });
});

test('tasks of a job that is not there are 404', async () => {
  await using app = await openApp();
  const answer = await fetch(`${app.url}/v1/jobs/${NO_JOB_ID}/tasks`, { headers: AS_ADMIN });
  expect(answer.status).toBe(404);
});
