import { describe, expect, it } from 'vitest';
import { projectTodos, TODO_WRITE_NOTE } from '../../packages/checklist/src/index.ts';
import type { JsonValue } from '../../packages/contracts/src/index.ts';
import { recordingTool, runOn, submitTool } from '../agent/support.ts';
import { memoryJournal } from '../support/memory-journal.ts';
import { lastResults, reply, startScriptedApi, toolUse } from '../support/scripted-messages-api.ts';
import { recordingChecklist, todo } from './support.ts';

const write = (...todos: unknown[]) => toolUse('todo_write', { todos });

describe('an agent with a checklist', () => {
  it('plans, then works the plan off, and anybody can read it from the journal [row 1] [row 3] [row 107] [row 117]', async () => {
    const journal = memoryJournal(1);
    const panels: unknown[] = [];
    const { tool } = recordingChecklist({
      onUpdate: async (todos) => {
        const data: JsonValue = { todos: todos.map(({ content, status }) => ({ content, status })) };
        await journal.append({ kind: 'note', name: TODO_WRITE_NOTE, data });
        panels.push(projectTodos(journal.entries));
      },
    });
    await using api = await startScriptedApi([
      reply([write(todo('a', 'in_progress'), todo('b'))]),
      reply([write(todo('a', 'completed'), todo('b', 'in_progress'))]),
      reply([write(todo('a', 'completed'), todo('b', 'completed'))]),
      reply([toolUse('submit')]),
    ]);
    const { outcome } = await runOn(api, { journal, tools: [tool, submitTool()] });
    expect(outcome.kind).toBe('done');
    expect(panels).toEqual([
      [todo('a', 'in_progress'), todo('b')],
      [todo('a', 'completed'), todo('b', 'in_progress')],
      [todo('a', 'completed'), todo('b', 'completed')],
    ]);
    const requests = JSON.stringify(api.requests.map(({ body }) => body.messages));
    expect(requests).not.toContain(TODO_WRITE_NOTE);
  });

  it('mends a refused list in its next turn [row 6] [row 112]', async () => {
    const { tool, updates } = recordingChecklist({ allowParallelInProgress: false });
    await using api = await startScriptedApi([
      reply([write(todo('a', 'in_progress'), todo('b', 'in_progress'))]),
      reply([write(todo('a', 'in_progress'), todo('b'))]),
      reply([toolUse('submit')]),
    ]);
    await runOn(api, { tools: [tool, submitTool()] });
    const results = api.requests.slice(1).flatMap(({ body }) => lastResults(body));
    expect(results).toMatchObject([
      { isError: true, text: 'at most one todo may be in_progress, got 2: finish or set back the others' },
      { isError: false, text: 'Updated todo list: 1 pending, 1 in progress, 0 completed.' },
    ]);
    expect(updates).toHaveLength(1);
  });

  it('is not helped out when it sends the list as JSON text [row 27]', async () => {
    const { tool, updates } = recordingChecklist();
    await using api = await startScriptedApi([
      reply([toolUse('todo_write', { todos: JSON.stringify([todo('a')]) })]),
      reply([toolUse('submit')]),
    ]);
    await runOn(api, { tools: [tool, submitTool()] });
    expect(lastResults(api.requests[1]?.body ?? { model: '', max_tokens: 1, messages: [] })).toMatchObject([
      { isError: true, text: expect.stringContaining('send an array') },
    ]);
    expect(updates).toEqual([]);
  });

  it('is reminded but never held up, and a refused list counts as a use [row 40]', async () => {
    const { tool } = recordingChecklist();
    const look = recordingTool([], { name: 'look' });
    const rounds = [['look'], ['look'], ['todo_write'], ['look'], ['look'], ['look'], ['look']];
    await using api = await startScriptedApi([
      ...rounds.map((names, n) => reply(names.map((name) => toolUse(name, { todos: `refused ${n}` })))),
      reply([toolUse('submit')]),
    ]);
    const { outcome } = await runOn(api, { tools: [tool, look, submitTool()], checklistRemind: true });
    expect(outcome.kind).toBe('done');
    const reminders = api.requests.map(({ body }) => JSON.stringify(body).split('<reminder>').length - 1);
    expect(reminders).toEqual([0, 0, 0, 0, 0, 0, 1, 1]);
  });
});
