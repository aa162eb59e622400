import { type JobBody, newSecret } from '@crewboard/contracts';
import { describe, expect, it } from 'vitest';
import { ANN } from '../support/board.ts';
import { boardsOf } from '../support/boards-of.ts';
import { type LocalStack, openLocalStack } from '../support/local-stack.ts';
import {
  allText,
  gate,
  lastResults,
  reply,
  startScriptedApi,
  text,
  toolUse,
} from '../support/scripted-messages-api.ts';

const KEY = 'test-provider-key';

/** The ID of the task that a sub-agent's first message shows. */
function ownTask(text: string): string {
  return /"taskId":"(t_\w{8})"/.exec(text)?.[1] ?? '';
}

async function submitted(stack: LocalStack, body: JobBody) {
  const { id } = await stack.client.jobs.submit(body);
  const boards = boardsOf(stack);
  const [task] = (await boards.page(id, { after: 0, limit: 1 })).tasks;
  const status = (wanted: string) =>
    expect.poll(async () => (await boards.task(id, task?.id ?? '')).status, { timeout: 15_000 }).toBe(wanted);
  return { jobId: id, taskId: task?.id ?? '', boards, status };
}

describe('a conversation goes on over attempts', () => {
  it('a blocked task’s answer reaches the model as the result of its call', async () => {
    await using api = await startScriptedApi((request, call) => {
      const taskId = ownTask(allText(request));
      if (call === 1)
        return reply([toolUse('board_block', { taskId, kind: 'needs_input', reason: 'which file?' })]);
      return reply([
        toolUse('board_submit', { taskId, summary: allText(request).includes('b.md') ? 'b.md' : 'lost' }),
      ]);
    });
    await using stack = await openLocalStack({ provider: { url: api.url, key: KEY } });
    const { jobId, taskId, boards, status } = await submitted(stack, { tasks: [{ title: 'One' }] });
    await status('blocked');
    const { version } = await boards.task(jobId, taskId);
    await boards.resolve(jobId, { taskId, version, decision: 'unblock', text: 'take b.md', by: ANN });
    await status('completed');
    expect((await boards.task(jobId, taskId)).result?.summary).toBe('b.md');
    expect(api.requests[1]?.body.messages).toHaveLength(3);
  });

  it('a rejected review’s feedback reaches the model, and approval completes the task', async () => {
    await using api = await startScriptedApi((request) => {
      const text = allText(request);
      return reply([
        toolUse('board_submit', {
          taskId: ownTask(text),
          summary: text.includes('longer') ? 'long' : 'short',
        }),
      ]);
    });
    await using stack = await openLocalStack({ provider: { url: api.url, key: KEY } });
    const { jobId, taskId, boards, status } = await submitted(stack, {
      tasks: [{ title: 'One', policy: 'approved' }],
    });
    await status('in_review');
    const decide = async (decision: 'approve' | 'reject', text: string) =>
      boards.resolve(jobId, {
        taskId,
        version: (await boards.task(jobId, taskId)).version,
        decision,
        text,
        by: ANN,
      });
    await decide('reject', 'longer, please');
    await expect.poll(() => api.requests.length).toBe(2);
    await status('in_review');
    expect((await boards.task(jobId, taskId)).result?.summary).toBe('long');
    await decide('approve', '');
    expect((await boards.job(jobId)).status).toBe('succeeded');
  });

  it('an edit is shown with the next request, and a submit for the old version is refused', async () => {
    const held = gate(reply([toolUse('board_list', {})]));
    await using api = await startScriptedApi((request, call) => {
      if (call === 1) return held;
      const text = allText(request);
      return reply([
        toolUse('board_submit', {
          taskId: ownTask(text),
          summary: text.includes('otherwise') ? 'new' : 'old',
        }),
      ]);
    });
    await using stack = await openLocalStack({ provider: { url: api.url, key: KEY } });
    const { jobId, taskId, boards, status } = await submitted(stack, {
      tasks: [{ title: 'One', instructions: 'do it' }],
    });
    await held.reached;
    const { version } = await boards.task(jobId, taskId);
    const edits = [{ taskId, version, patch: { instructions: 'do it otherwise' } }];
    await boards.change(jobId, { by: ANN, maxAttempts: 3, edits });
    held.open();
    await status('completed');
    expect((await boards.task(jobId, taskId)).result?.summary).toBe('new');
  });

  it('a submit that was decided before the edit is refused with the difference, and the next one counts', async () => {
    const held = gate(reply([toolUse('board_submit', { taskId: 't_22222222', summary: 'old' })]));
    await using api = await startScriptedApi((request, call) => {
      const text = allText(request);
      if (call === 1) return reply([toolUse('board_list', {})]);
      if (call === 2) return held;
      expect(text).toContain('otherwise');
      return reply([toolUse('board_submit', { taskId: ownTask(text), summary: 'new' })]);
    });
    await using stack = await openLocalStack({ provider: { url: api.url, key: KEY } });
    const { boards, status, jobId, taskId } = await submitted(stack, {
      tasks: [{ title: 'One', instructions: 'do it' }],
    });
    await held.reached;
    const { version } = await boards.task(jobId, taskId);
    const edits = [{ taskId, version, patch: { instructions: 'do it otherwise' } }];
    await boards.change(jobId, { by: ANN, maxAttempts: 3, edits });
    held.open();
    await status('completed');
  });
});

describe('the same refusal again and again', () => {
  it('is told to the model as a loop from the third time on, and is news for the lead', async () => {
    const seen: string[] = [];
    await using api = await startScriptedApi((request, call) => {
      seen.push(...lastResults(request).map(({ text }) => text));
      if (call <= 3) return reply([toolUse('board_get', { taskId: 't_22222222' })]);
      return reply([toolUse('board_submit', { taskId: ownTask(allText(request)), summary: 'done' })]);
    });
    await using stack = await openLocalStack({ provider: { url: api.url, key: KEY } });
    const { jobId, boards, status } = await submitted(stack, { tasks: [{ title: 'One' }] });
    await status('completed');
    expect(seen.map((text) => text.includes('loopGuard'))).toEqual([false, false, true]);
    const notes = (await boards.events(jobId, '0-0', 100)).filter(({ type }) => type === 'task.noted');
    expect(notes.map(({ data }) => data?.forLead)).toEqual([true]);
  });
});

describe('a lead', () => {
  it('whose wake was not answered before its attempt ended is told the news by the next one', async () => {
    await using stack = await openLocalStack({ worker: false });
    const boards = boardsOf(stack);
    const { id: jobId } = await stack.client.jobs.submit({
      goal: 'Do it',
      tasks: [{ title: 'One', maxAttempts: 1 }],
    });
    const lead = (await boards.job(jobId)).lead ?? '';
    const [task] = (await boards.page(jobId, { after: 0, limit: 1 })).tasks;
    const claim = async (taskId: string, kind: 'lead' | 'sub-agent') => {
      const owner = { kind, id: 'w' };
      const input = { taskId, owner, secret: newSecret(), requestId: newSecret(), leaseMs: 60_000 };
      const claimed = await boards.claim(jobId, input);
      if (claimed === undefined) throw new Error('nothing was claimed');
      return { jobId, taskId, token: claimed.token };
    };
    expect(await boards.waitForNews(await claim(lead, 'lead'), '1/wait')).toBe('parked');
    const hold = await claim(task?.id ?? '', 'sub-agent');
    const failure = { class: 'model' as const, reason: 'no', retryable: false, delayMs: 0, infraStrikes: 3 };
    await boards.fail(hold, 'f', failure);
    await boards.release(await claim(lead, 'lead'), 'r', 'shutting down');
    expect(await boards.waitForNews(await claim(lead, 'lead'), '1/wait')).toBe('woken');
  });
});

describe('a transcript', () => {
  it('of a job is that of its lead, in the same pages', async () => {
    await using api = await startScriptedApi(() => reply([toolUse('finish_job', { summary: 'done' })]));
    await using stack = await openLocalStack({ provider: { url: api.url, key: KEY } });
    const { id } = await stack.run({ goal: 'Do it' });
    const lead = (await boardsOf(stack).job(id)).lead ?? '';
    const page = await stack.client.jobs.transcript(id);
    expect(page.entries.map(({ kind }) => kind)).toContain('reply');
    expect(page).toEqual(await stack.client.tasks.transcript(id, lead));
    expect(await stack.client.jobs.transcript(id, { limit: 1 })).toMatchObject({ nextCursor: 'e1' });
  });

  it('of a job without a lead is not found, which says so', async () => {
    await using stack = await openLocalStack({ worker: false });
    const { id } = await stack.client.jobs.submit({ tasks: [{ title: 'One' }] });
    const answer = await stack.call('GET', `/v1/jobs/${id}/transcript`);
    expect(answer).toMatchObject({ status: 404, json: { code: 'not_found' } });
    expect(answer.text).toContain('has no lead');
  });

  it('is the conversation of a task in pages, without anything that looks like a key', async () => {
    const secret = `sk-${'a1b2'.repeat(8)}`;
    await using api = await startScriptedApi((request) =>
      reply([
        text(`I saw ${secret}`),
        toolUse('board_submit', { taskId: ownTask(allText(request)), summary: 'done' }),
      ]),
    );
    await using stack = await openLocalStack({ provider: { url: api.url, key: KEY } });
    const { jobId, taskId, status } = await submitted(stack, { tasks: [{ title: 'One' }] });
    await status('completed');
    const path = `/v1/jobs/${jobId}/tasks/${taskId}/transcript`;
    const whole = await stack.client.tasks.transcript(jobId, taskId);
    expect(whole.entries.map(({ kind }) => kind)).toEqual(['message', 'reply', 'tool.started']);
    expect(JSON.stringify(whole)).not.toContain(secret);
    const first = await stack.call('GET', `${path}?limit=1`);
    expect(first.json).toMatchObject({ entries: [{ kind: 'message' }], nextCursor: 'e1' });
    expect((await stack.call('GET', `${path}?cursor=zzz`)).status).toBe(400);
    expect((await stack.call('GET', `/v1/jobs/${jobId}/tasks/t_22222222/transcript`)).status).toBe(404);
  });
});
