import { setTimeout as wait } from 'node:timers/promises';
import type { BoardEvent } from '@crewboard/contracts';
import { expect, it } from 'vitest';
import { turnsOf } from '../orchestrator/support.ts';
import { openDoor } from '../support/door.ts';
import {
  allText,
  isProbe,
  type MessagesRequest,
  overloaded,
  reply,
  startScriptedApi,
  text,
  toolUse,
} from '../support/scripted-messages-api.ts';
import { openStack } from '../support/stack.ts';
import { isLead, taskIdIn } from './support/conversation.ts';

const TASKS = 40;
/** A hundredth of the times that a provider's failures are waited for by default: so ten minutes take six seconds. */
const SHORT = {
  CREWBOARD_MODEL_TRIES: '6',
  CREWBOARD_MODEL_RETRY_MS: '1200',
  CREWBOARD_PARK_MS: '600',
  CREWBOARD_INFRA_STRIKES: '3',
  CREWBOARD_CONCURRENCY: '16',
};
const OUTAGE_MS = 6000;
/** Calls before the outage: some tasks are done then, some in the middle, some not begun. */
const CALLS_BEFORE = 40;

/** A lead waits until all is settled; a sub-agent takes two turns. */
function answer(request: MessagesRequest) {
  if (isProbe(request)) return reply([text('p')]);
  if (isLead(request)) {
    const isOver = allText(request).includes('"allSettled":true');
    return reply([isOver ? toolUse('finish_job', { summary: 'All done.' }) : toolUse('board_wait')]);
  }
  const taskId = taskIdIn(request);
  const call =
    turnsOf(request) === 0
      ? toolUse('board_note', { taskId, text: 'Begun.' })
      : toolUse('board_submit', { taskId, summary: 'Done.' });
  return reply([call]);
}

it.each(['answers 529', 'refuses connections'])(
  'nothing fails when the model %s for as long as ten minutes, and all completes after',
  { timeout: 120_000 },
  async (how) => {
    let isOver = true;
    await using api = await startScriptedApi((request) => (isOver ? answer(request) : overloaded()));
    await using door = await openDoor(api.url);
    await using stack = await openStack({ variables: { ...SHORT, ANTHROPIC_BASE_URL: door.url } });
    await Promise.all([stack.startWorker(), stack.startWorker()]);
    const { id } = await stack.client.jobs.submit({
      goal: 'Do all of them.',
      tasks: Array.from({ length: TASKS }, (_, i) => ({ title: `Row ${i + 1}` })),
      limits: { maxParallel: 24 },
    });
    const events: BoardEvent[] = [];
    const ended = stack.untilEnded(id, (event) => events.push(event));
    await api.arrived(CALLS_BEFORE);
    if (how === 'answers 529') isOver = false;
    else await door.shut();
    // Wakes the lead in the middle of it.
    await stack.client.jobs.message(id, { text: 'How far are you?' });
    await stack.untilEvent(id, ({ type }) => type === 'rate.opened');
    await wait(OUTAGE_MS);

    const during = await stack.client.jobs.get(id);
    expect(during).toMatchObject({
      status: 'running',
      statusReason: expect.stringMatching(/^provider: \S+ answers nobody/),
      counts: { failed: 0, blocked: 0 },
    });
    expect(during.counts.completed).toBeLessThan(TASKS);
    isOver = true;
    if (how === 'refuses connections') await door.open();

    const job = await ended;
    expect(job).toMatchObject({ status: 'succeeded', counts: { total: TASKS, completed: TASKS } });
    const { tasks } = await stack.boards.page(id, { after: 0, limit: TASKS });
    expect(tasks.map(({ failures }) => failures)).toEqual(tasks.map(() => 0));
    const types = events.map(({ type }) => type);
    expect(types.filter((type) => ['task.failed', 'job.paused', 'task.expired'].includes(type))).toEqual([]);
    expect(types).toContain('rate.closed');
    // What was begun before the outage was gone on with: each began once.
    expect(types.filter((type) => type === 'task.noted')).toHaveLength(TASKS);
    expect((await stack.boards.examine(id)).findings).toEqual([]);
  },
);
