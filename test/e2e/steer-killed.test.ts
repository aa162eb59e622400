import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ownTask } from '../regression/support.ts';
import type { Answer } from '../support/held-model.ts';
import type { Freeze } from '../support/redis-wire.ts';
import {
  allText,
  type MessagesRequest,
  offersTool,
  reply,
  toolUse,
} from '../support/scripted-messages-api.ts';
import { openStack, type Stack, type WorkerProcess } from '../support/stack.ts';
import { leadJournal, readRecord } from './support/job-record.ts';

const WORD = 'Leave the generated files out.';
const PLAN = [
  { key: 'a', title: 'First' },
  { key: 'b', title: 'Second', dependsOn: ['a'] },
];
const USAGE = {
  input_tokens: 10,
  output_tokens: 5,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
};

const isLead = (request: MessagesRequest) => offersTool(request, 'finish_job');
const turns = ({ messages }: MessagesRequest) => messages.filter(({ role }) => role === 'assistant').length;
const times = (request: MessagesRequest, word: string) => allText(request).split(word).length - 1;

function call(request: MessagesRequest) {
  const said = allText(request);
  if (!isLead(request)) {
    return turns(request) < 2
      ? toolUse('board_list', { limit: turns(request) + 1 })
      : toolUse('board_submit', { taskId: ownTask(request), summary: 'done' });
  }
  if (!said.includes('"decision":"approved"')) return toolUse('submit_plan', { tasks: PLAN });
  return said.includes('"allSettled":true')
    ? toolUse('finish_job', { summary: 'done' })
    : toolUse('board_wait');
}

const answer: Answer = (request) => {
  const { content } = reply([call(request)]);
  return { content, stopReason: 'tool_use', usage: USAGE };
};

interface Moment {
  name: string;
  command?: Freeze;
  /** The worker dies while this model call waits. */
  call?: (request: MessagesRequest) => boolean;
}

function reach({ command, call: matches }: Moment, stack: Stack, worker: WorkerProcess) {
  if (command !== undefined) return { reached: worker.wire.freezeAt(command), release() {} };
  const held = stack.model.hold((request) => matches?.(request) ?? false, 1);
  return { reached: held.arrived(1), release: held.open };
}

let stack: Stack;
let worker: WorkerProcess | undefined;
let jobId: string | undefined;

beforeAll(async () => {
  stack = await openStack({ answer });
}, 60_000);
afterEach(async () => {
  if (jobId !== undefined) await stack.client.jobs.cancel(jobId);
});
afterAll(() => stack?.[Symbol.asyncDispose]());

describe('a message to a sub-agent whose worker is killed is told once, when it dies', () => {
  const MOMENTS: Moment[] = [
    { name: 'in the model call before', call: (request) => !isLead(request) && turns(request) === 0 },
    {
      name: 'before the journal has it',
      command: { words: /"kind":"message"[^\r]*<message id=/, when: 'before' },
    },
    {
      name: 'when the journal has it and the model was not called',
      command: { words: /"kind":"message"[^\r]*<message id=/, when: 'after' },
    },
    { name: 'in the model call that tells it', call: (request) => times(request, WORD) > 0 },
  ];

  for (const moment of MOMENTS) {
    it(moment.name, { timeout: 90_000 }, async () => {
      const victim = worker ?? (await stack.startWorker());
      worker = undefined;
      const first = stack.model.hold((request) => turns(request) === 0 && !isLead(request), 1);
      const from = stack.model.requests.length;
      const { id } = await stack.client.jobs.submit({ tasks: [{ title: 'One' }] });
      jobId = id;
      await first.arrived(1);
      const { tasks } = await stack.client.tasks.list(id);
      await stack.client.jobs.message(id, { text: WORD, target: tasks[0]?.id });
      const isFirst = moment === MOMENTS[0];
      const { reached, release } = isFirst
        ? { reached: Promise.resolve(), release: first.open }
        : reach(moment, stack, victim);
      if (!isFirst) first.open();
      await reached;
      await victim.kill();
      release();
      worker = await stack.startWorker();
      expect((await stack.untilEnded(id)).status).toBe('succeeded');

      const record = await readRecord(stack, id);
      const delivered = record.events.filter(({ type }) => type === 'message.delivered');
      expect(delivered).toHaveLength(1);
      const texts = [...record.journals.values()]
        .flat()
        .flatMap((entry) => (entry.kind === 'message' ? entry.texts : []));
      expect(texts.filter((text) => text.includes(WORD))).toHaveLength(1);
      const told = stack.model.requests.slice(from).map(({ body }) => times(body, WORD));
      expect(Math.max(...told)).toBe(1);
      expect(told.at(-1)).toBe(1);
    });
  }
});

describe('a plan whose lead’s worker is killed is proposed and carried out once, when it dies', () => {
  const PROPOSAL = /\r\n\{"tasks":\[\{"key":"a"/;
  const MOMENTS: (Moment & { decided?: boolean })[] = [
    { name: 'before the plan is proposed', command: { words: PROPOSAL, when: 'before' } },
    {
      name: 'when the plan is proposed and the worker was not told',
      command: { words: PROPOSAL, when: 'after' },
    },
    {
      name: 'when the decision is journalled and the model was not called',
      command: { words: /"kind":"tool.result"[^\r]*approved/, when: 'after' },
      decided: true,
    },
    {
      name: 'before the decision is journalled',
      command: { words: /"kind":"tool.result"[^\r]*approved/, when: 'before' },
      decided: true,
    },
  ];

  for (const moment of MOMENTS) {
    it(moment.name, { timeout: 90_000 }, async () => {
      const victim = worker ?? (await stack.startWorker());
      worker = undefined;
      const { reached } = reach(moment, stack, victim);
      const { id } = await stack.client.jobs.submit({ goal: 'Do it', plan: { approve: true } });
      jobId = id;
      const proposed = () => stack.untilEvent(id, ({ type }) => type === 'plan.proposed');
      const restart = async () => {
        await reached;
        await victim.kill();
        worker = await stack.startWorker();
      };
      if (!moment.decided) await restart();
      await proposed();
      await stack.client.jobs.approvePlan(id, { version: 1 });
      if (moment.decided) await restart();
      expect((await stack.untilEnded(id)).status).toBe('succeeded');

      const record = await readRecord(stack, id);
      expect(record.tasks.map(({ key, status }) => [key, status])).toEqual([
        ['a', 'completed'],
        ['b', 'completed'],
      ]);
      const of = (type: string) => record.events.filter((event) => event.type === type);
      expect(
        [of('plan.proposed'), of('plan.approved'), of('task.added')].map(({ length }) => length),
      ).toEqual([1, 1, 2]);
      const results = leadJournal(record).flatMap((entry) =>
        entry.kind === 'tool.result' ? [entry.content] : [],
      );
      expect(results.filter((content) => content.includes('"decision"'))).toHaveLength(1);
    });
  }
});
