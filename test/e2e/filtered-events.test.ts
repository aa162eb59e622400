import { type BoardEvent, isTerminalEvent } from '@crewboard/contracts';
import { describe, expect, it } from 'vitest';
import { AS_ADMIN, type LocalStack, openLocalStack } from '../support/local-stack.ts';

const tasks = Array.from({ length: 30 }, (_, i) => ({ key: `k${i}`, title: `Task ${i}` }));

async function all(events: AsyncIterable<BoardEvent>): Promise<BoardEvent[]> {
  const found: BoardEvent[] = [];
  for await (const event of events) found.push(event);
  return found;
}

async function ended(stack: LocalStack) {
  const { id } = await stack.run({ tasks });
  const log = await all(stack.client.jobs.events(id));
  return { id, log };
}

const idsOf = (events: readonly { id: string }[]) => events.map(({ id }) => id);

describe('a stream with a filter', () => {
  it('brings what is asked for, by types, families and task, and always the terminal event', async () => {
    await using stack = await openLocalStack();
    const { id, log } = await ended(stack);
    const { client } = stack;
    const taskId = log.find(({ type }) => type === 'task.claimed')?.taskId ?? '';
    const wanted = (keep: (event: BoardEvent) => boolean) =>
      idsOf(log.filter((event) => keep(event) || isTerminalEvent(event)));
    const by = async (filter: { types?: string[]; taskId?: string }) =>
      idsOf(await all(client.jobs.events(id, filter)));
    expect(await by({ types: ['task.completed'] })).toEqual(wanted(({ type }) => type === 'task.completed'));
    expect(await by({ types: ['job.*', 'task.claimed'] })).toEqual(
      wanted(({ type }) => type.startsWith('job.') || type === 'task.claimed'),
    );
    expect(await by({ taskId })).toEqual(wanted((event) => event.taskId === taskId));
    expect(await by({ taskId, types: ['task.claimed'] })).toHaveLength(2);
    expect(await by({ types: ['rate.limited'] })).toHaveLength(1);
  });

  it('tells the place that it has looked up to, from which a client goes on without a resync', async () => {
    await using stack = await openLocalStack();
    const { id, log } = await ended(stack);
    const url = `${stack.url}/v1/jobs/${id}/events?types=rate.limited`;
    const text = await (await fetch(url, { headers: AS_ADMIN })).text();
    const places = [...text.matchAll(/^id: (.*)$/gm)].map(([, place]) => place);
    expect(places.at(-1)).toBe(log.at(-1)?.id);
    const open = (lastEventId: string) =>
      fetch(url, { headers: { ...AS_ADMIN, 'last-event-id': lastEventId } });
    expect((await open(places.at(-1) ?? '')).status).toBe(204);
    const later = await (await open(log.at(-2)?.id ?? '')).text();
    expect(later).toContain('event: job.succeeded');
    expect(later).not.toContain('resync');
  });

  it('moves its place on while events are left out', async () => {
    await using stack = await openLocalStack({ worker: false });
    const { id } = await stack.client.jobs.submit({ tasks: [{ title: 'A', executor: 'external' }] });
    const { asOf = '' } = await stack.client.tasks.list(id);
    const answer = await fetch(`${stack.url}/v1/jobs/${id}/events?types=task.failed`, { headers: AS_ADMIN });
    const reader = answer.body?.getReader();
    let read = '';
    while (!read.includes(`id: ${asOf}\n\n`)) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
      if (done) throw new Error(`ended: ${read}`);
      read += new TextDecoder().decode(value);
    }
    expect(read).not.toContain('data:');
    await reader?.cancel();
  });
});

describe('a list of events with a filter', () => {
  it('pages through what is asked for, each once', async () => {
    await using stack = await openLocalStack();
    const { id, log } = await ended(stack);
    const found: string[] = [];
    for (let after: string | undefined = '0-0'; after !== undefined; ) {
      const page = await stack.client.jobs.listEvents(id, { after, limit: 7, types: ['task.claimed'] });
      expect(page.events.length).toBeLessThanOrEqual(7);
      found.push(...idsOf(page.events));
      after = page.nextCursor;
    }
    expect(found).toEqual(
      idsOf(log.filter((event) => event.type === 'task.claimed' || isTerminalEvent(event))),
    );
  });

  it.each(['task.done', 'tasks.*', 'task.completed,', '*', 'job'])(
    'refuses types=%s, and says why',
    async (types) => {
      await using stack = await openLocalStack({ worker: false });
      const { id } = await stack.client.jobs.submit({ tasks: [{ title: 'A', executor: 'external' }] });
      const answer = await stack.call('GET', `/v1/jobs/${id}/events?types=${encodeURIComponent(types)}`);
      expect(answer).toMatchObject({ status: 400, json: { code: 'invalid_argument' } });
      expect(answer.text).toContain('task.completed,task.failed');
    },
  );
});
