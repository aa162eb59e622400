import { openBoards } from '@crewboard/board';
import { createTodoWriteTool, projectTodos, renderPlain, todoWriteEntry } from '@crewboard/checklist';
import type { BoardEvent, Journal } from '@crewboard/contracts';
import { describe, expect, it } from 'vitest';
import { openScriptedStack, ownTask, repliesIn } from '../regression/support.ts';
import { openBoardFixture } from '../support/board.ts';
import { memoryJournal } from '../support/memory-journal.ts';
import { gate, reply, startScriptedApi, toolUse } from '../support/scripted-messages-api.ts';
import { todo, todos } from './support.ts';

const PLAN = [todo('Read', 'completed'), todo('Write', 'in_progress'), todo('Tell')];

function progressOf(events: readonly BoardEvent[]): unknown[] {
  return events.filter(({ type }) => type === 'task.progress').map(({ data }) => data?.progress);
}

describe('a sub-agent’s checklist on the board', () => {
  it('shows as progress under its task, each list once, and a restarted API still has the last one [row 7] [row 75]', async () => {
    const held = gate(reply([toolUse('board_list', {})]));
    await using api = await startScriptedApi((request) => {
      const replies = repliesIn(request);
      if (replies === 0) return reply([toolUse('todo_write', { todos: [todo('Read')] })]);
      if (replies === 1) return reply([toolUse('todo_write', { todos: PLAN })]);
      if (replies === 2) return held;
      return reply([toolUse('board_submit', { taskId: ownTask(request), summary: 'done' })]);
    });
    await using stack = await openScriptedStack(api);
    const { id } = await stack.local.client.jobs.submit({ tasks: [{ title: 'One' }] });
    await held.reached;
    await stack.local.restartApi();
    const { events } = await stack.local.client.jobs.listEvents(id);
    expect(progressOf(events)).toEqual([renderPlain([todo('Read')]), renderPlain(PLAN)]);
    const [task] = (await stack.read(id)).tasks;
    expect(task?.version).toBe(events.find(({ type }) => type === 'task.claimed')?.version);
    held.open();
    await expect
      .poll(async () => (await stack.local.client.jobs.get(id)).status, { timeout: 15_000 })
      .toBe('succeeded');
    const { journals } = await stack.read(id);
    expect(projectTodos(journals.get(task?.id ?? '') ?? [])).toEqual(PLAN);
  });

  it('is not recited to the model beyond its own calls [row 80]', async () => {
    await using api = await startScriptedApi((request) => {
      const replies = repliesIn(request);
      if (replies === 0) return reply([toolUse('todo_write', { todos: [todo('A marked step')] })]);
      if (replies < 5) return reply([toolUse('board_list', { limit: replies })]);
      return reply([toolUse('board_submit', { taskId: ownTask(request), summary: 'done' })]);
    });
    await using stack = await openScriptedStack(api);
    await stack.run({ tasks: [{ title: 'One' }] });
    const times = api.requests.map(
      ({ body }) => JSON.stringify(body.messages).split('A marked step').length - 1,
    );
    expect(times).toEqual([0, 1, 1, 1, 1, 1]);
  });
});

describe('people beside the model', () => {
  it('correct the task early: an edit reaches the model with its next request, its list as it was [row 100]', async () => {
    const held = gate(reply([toolUse('board_list', {})]));
    await using api = await startScriptedApi((request) => {
      const replies = repliesIn(request);
      if (replies === 0) return reply([toolUse('todo_write', { todos: PLAN })]);
      if (replies === 1) return held;
      return reply([toolUse('board_submit', { taskId: ownTask(request), summary: 'done' })]);
    });
    await using stack = await openScriptedStack(api);
    const { id } = await stack.local.client.jobs.submit({ tasks: [{ title: 'One', instructions: 'so' }] });
    await held.reached;
    const [task] = (await stack.read(id)).tasks;
    await stack.local.client.tasks.edit(id, task?.id ?? '', {
      version: task?.version ?? 0,
      instructions: 'otherwise',
    });
    held.open();
    await expect
      .poll(async () => (await stack.local.client.jobs.get(id)).status, { timeout: 15_000 })
      .toBe('succeeded');
    expect(JSON.stringify(api.requests.at(-1)?.body.messages.at(-1))).toContain('otherwise');
    const { journals } = await stack.read(id);
    expect(projectTodos(journals.get(task?.id ?? '') ?? [])).toEqual(PLAN);
  });

  it('are the strictest level: what has to be approved waits for them, whatever the list says [row 41]', async () => {
    await using api = await startScriptedApi((request) =>
      repliesIn(request) === 0
        ? reply([toolUse('todo_write', { todos: [todo('All', 'completed')] })])
        : reply([toolUse('board_submit', { taskId: ownTask(request), summary: 'done' })]),
    );
    await using stack = await openScriptedStack(api);
    const { id } = await stack.local.client.jobs.submit({ tasks: [{ title: 'One', policy: 'approved' }] });
    const first = async () => (await stack.read(id)).tasks[0];
    await expect.poll(async () => (await first())?.status, { timeout: 15_000 }).toBe('in_review');
    const task = await first();
    await stack.local.client.tasks.approve(id, task?.id ?? '', { version: task?.version ?? 0 });
    expect((await first())?.status).toBe('completed');
  });
});

describe('the same tool on two stores', () => {
  /** Writes lists, good and bad, and answers what the store then says. */
  async function written(journal: Journal) {
    const tool = createTodoWriteTool({
      allowParallelInProgress: false,
      onUpdate: (list) => journal.append(todoWriteEntry(list)),
    });
    const answers: string[] = [];
    for (const list of [
      PLAN,
      [],
      todos(21),
      [todo('a', 'in_progress'), todo('b', 'in_progress')],
      PLAN.slice(1),
    ]) {
      const context = { signal: new AbortController().signal, toolUseId: 'c', requestId: '1/c' };
      answers.push((await tool.execute({ todos: list }, context)).content);
    }
    return { answers, list: projectTodos(journal.entries) };
  }

  it('behaves the same in memory and in Redis [row 73] [row 93]', async () => {
    await using fixture = await openBoardFixture();
    const { jobId, ids } = await fixture.job([{ title: 'One' }]);
    const { hold, task } = await fixture.claim(jobId, ids.One ?? '');
    const inRedis = await fixture.boards.openJournal(hold, { attempt: task.attempt });
    expect(await written(inRedis)).toEqual(await written(memoryJournal(1)));
    const other = openBoards(fixture.store.redis, fixture.store.prefix);
    expect(projectTodos(await other.readJournal(jobId, task.id))).toEqual(PLAN.slice(1));
  });
});

describe('the shared board beside it', () => {
  it('lets two tasks be in progress, each with its owner and attempt, and none without [row 20]', async () => {
    await using fixture = await openBoardFixture();
    const { jobId, ids } = await fixture.job([{ title: 'One' }, { title: 'Two' }, { title: 'Three' }]);
    await fixture.claim(jobId, ids.One ?? '', 'worker-1');
    await fixture.claim(jobId, ids.Two ?? '', 'worker-2');
    const { tasks } = await fixture.boards.page(jobId, { after: 0, limit: 10 });
    const active = tasks.filter(({ status }) => status === 'in_progress');
    expect(active.map(({ owner, attempt }) => [owner?.id, attempt])).toEqual([
      ['worker-1', 1],
      ['worker-2', 1],
    ]);
    expect(tasks.filter(({ status }) => status !== 'in_progress').map(({ owner }) => owner)).toEqual([
      undefined,
    ]);
  });

  it('is a state machine: a task that nobody holds is not completed by anybody’s word [row 41]', async () => {
    await using fixture = await openBoardFixture();
    const { jobId, ids } = await fixture.job([{ title: 'One' }]);
    const taskId = ids.One ?? '';
    const hold = { jobId, taskId, token: 'not-a-token-of-this-task' };
    const submission = { summary: 'done', artifacts: [], evidence: [] };
    await expect(fixture.boards.submit(hold, 's', 1, submission)).rejects.toMatchObject({
      code: 'not_owner',
    });
    expect((await fixture.boards.task(jobId, taskId)).status).toBe('pending');
  });

  it('answers a write on a stale view with the task as it is, so that the next call can be right [row 92]', async () => {
    await using fixture = await openBoardFixture();
    const { jobId, ids } = await fixture.job([{ title: 'One' }]);
    const taskId = ids.One ?? '';
    const edit = (version: number, title: string) =>
      fixture.boards.change(jobId, {
        by: { kind: 'user', id: 'ann' },
        maxAttempts: 3,
        edits: [{ taskId, version, patch: { title } }],
      });
    await edit(1, 'Newer');
    await expect(edit(1, 'Lost')).rejects.toMatchObject({
      code: 'stale_version',
      extras: { current: { version: 2, status: 'pending' } },
    });
    await edit(2, 'Newest');
    expect((await fixture.boards.task(jobId, taskId)).title).toBe('Newest');
  });
});
