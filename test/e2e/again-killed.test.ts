import type { Client } from '@crewboard/client';
import type { Attempt, NewTask, Task } from '@crewboard/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ownTask, repliesIn } from '../regression/support.ts';
import type { Answer } from '../support/held-model.ts';
import { allText, reply, toolUse } from '../support/scripted-messages-api.ts';
import { openStack, type Stack, type WorkerProcess } from '../support/stack.ts';

const WORD = 'Only the even ones.';
const USAGE = {
  input_tokens: 10,
  output_tokens: 5,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
};

/** Asks at first where its task is to be asked about; else submits. */
const answer: Answer = (request) => {
  const taskId = ownTask(request);
  const asks = allText(request).includes('"title":"Asks"') && repliesIn(request) === 0;
  const call = asks
    ? toolUse('board_block', { taskId, kind: 'needs_input', reason: 'which ones?' })
    : toolUse('board_submit', { taskId, summary: 'done' });
  return { content: reply([call]).content, stopReason: 'tool_use', usage: USAGE };
};

type Ids = readonly [jobId: string, taskId: string];

interface Way {
  name: string;
  task: NewTask;
  /** How the first attempt ends in the end, and where it and the last one leave the task. */
  first: Attempt['outcome'];
  from: Task['status'];
  done: Task['status'];
  again(client: Client, ids: Ids, version: number): Promise<unknown>;
}

const WAYS: Way[] = [
  {
    name: 'a rerun',
    task: { title: 'One' },
    first: 'completed',
    from: 'completed',
    done: 'completed',
    again: ({ jobs }, [jobId]) => jobs.rerun(jobId, { where: { status: 'completed' }, instructions: WORD }),
  },
  {
    name: 'a reopen',
    task: { title: 'One' },
    first: 'completed',
    from: 'completed',
    done: 'completed',
    again: ({ tasks }, ids, version) => tasks.reopen(...ids, { version, reason: WORD }),
  },
  {
    name: 'an answer to its question',
    task: { title: 'Asks' },
    first: 'blocked',
    from: 'blocked',
    done: 'completed',
    again: ({ tasks }, ids, version) => tasks.unblock(...ids, { version, answer: WORD }),
  },
  {
    name: 'a rejection',
    task: { title: 'One', policy: 'approved' },
    first: 'rejected',
    from: 'in_review',
    done: 'in_review',
    again: ({ tasks }, ids, version) => tasks.reject(...ids, { version, text: WORD }),
  },
];

/** When the worker is killed: before it journals anything of the new attempt, or in its first model call. */
const MOMENTS = ['before its first word', 'in its first model call'] as const;

let stack: Stack;
let worker: WorkerProcess;
beforeAll(async () => {
  stack = await openStack({ answer });
  worker = await stack.startWorker();
}, 60_000);
afterAll(() => stack?.[Symbol.asyncDispose]());

/** Resolves when the first attempt has left the task as it is to be. */
async function until(jobId: string, taskId: string, status: Task['status']): Promise<Task> {
  await stack.untilEvent(jobId, (event) => event.taskId === taskId && event.status === status);
  return stack.client.tasks.get(jobId, taskId);
}

describe.each(WAYS)('$name whose worker is killed (-9)', ({ task, first, from, done, again }) => {
  it.each(MOMENTS)(
    '%s is told to the next attempt, which does the task',
    { timeout: 90_000 },
    async (moment) => {
      const { client } = stack;
      const { id: jobId } = await client.jobs.submit({ tasks: [task] });
      const taskId = (await client.tasks.list(jobId)).tasks[0]?.id ?? '';
      const { version } = await until(jobId, taskId, from);
      const isTold = stack.model.hold((request) => allText(request).includes(WORD), 1);
      const reached =
        moment === MOMENTS[0]
          ? worker.wire.freezeAt({ words: /"kind":"(tool\.result|message|request)"/, when: 'before' })
          : isTold.arrived(1);
      await again(client, [jobId, taskId], version);
      await reached;
      await worker.kill();
      isTold.open();
      worker = await stack.startWorker();
      await stack.untilEvent(jobId, ({ attempt, status }) => attempt === 3 && status === done);

      const { attempts } = await client.tasks.attempts(jobId, taskId);
      // What is in review has no outcome yet.
      const last = done === 'in_review' ? undefined : 'completed';
      expect(attempts.map(({ outcome }) => outcome)).toEqual([first, 'expired', last]);
      expect((await client.tasks.get(jobId, taskId)).failures).toBe(0);
      const said = stack.model.requests.filter(({ body }) => ownTask(body) === taskId).at(-1);
      expect(said === undefined ? '' : allText(said.body)).toContain(WORD);
    },
  );
});
