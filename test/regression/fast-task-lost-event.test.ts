import type { BoardEvent } from '@crewboard/contracts';
import { expect, test } from 'vitest';
import { gate, reply, startScriptedApi, toolUse } from '../support/scripted-messages-api.ts';
import { openScriptedStack, ownTask, type ScriptedStack } from './support.ts';

/** Looks again and again, for long on a busy machine. */
const poll = <T>(look: () => T) => expect.poll(look, { timeout: 20_000 });

const TASKS = 40;
const HELD_CALL = 15;

/** Follows from an event on until the stream ends or breaks; nothing more is tried then. */
async function follow({ local }: ScriptedStack, jobId: string, after?: string): Promise<BoardEvent[]> {
  const events: BoardEvent[] = [];
  const stopped = new AbortController();
  for await (const event of local.client.jobs.events(jobId, { after, signal: stopped.signal }))
    events.push(event);
  return events;
}

test('tasks that end within a moment are all told of, though the reader of events is another one half-way', {
  timeout: 60_000,
}, async () => {
  const held = gate(reply([]));
  await using api = await startScriptedApi((request, call) => {
    const done = reply([toolUse('board_submit', { taskId: ownTask(request), summary: 'Done.' })]);
    if (call !== HELD_CALL) return done;
    held.reply = done;
    return held;
  });
  await using stack = await openScriptedStack(api);
  const { id } = await stack.local.client.jobs.submit({
    tasks: Array.from({ length: TASKS }, (_, i) => ({ title: `Task ${i}` })),
    limits: { maxParallel: 1 },
  });
  const before: BoardEvent[] = [];
  const cut = new AbortController();
  const reading = (async () => {
    for await (const event of stack.local.client.jobs.events(id, { signal: cut.signal })) before.push(event);
  })();
  await held.reached;
  await poll(() => before.filter(({ type }) => type === 'task.completed').length).toBe(HELD_CALL - 1);
  cut.abort();
  await reading;
  // The new reader begins while the rest of the job is over in an instant.
  held.open();
  await stack.local.restartApi();
  const after = await follow(stack, id, before.at(-1)?.id);

  const all = [...before, ...after];
  expect(new Set(all.map(({ id: event }) => event)).size).toBe(all.length);
  const completed = all.filter(({ type }) => type === 'task.completed').map(({ taskId }) => taskId);
  expect(new Set(completed).size).toBe(TASKS);
  expect(completed).toHaveLength(TASKS);
  expect(all.at(-1)?.type).toBe('job.succeeded');
  // Whoever asks later waits for nothing: the end is read from what the board says.
  const late = await follow(stack, id);
  expect(late.map(({ id: event }) => event)).toEqual(all.map(({ id: event }) => event));
  expect(await follow(stack, id, late.at(-1)?.id)).toEqual([]);
  const { job } = await stack.read(id);
  expect(job).toMatchObject({ status: 'succeeded', counts: { total: TASKS, completed: TASKS } });
});
