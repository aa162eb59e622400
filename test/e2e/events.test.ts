import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { createInterface } from 'node:readline';
import { BoardEvent, EventList } from '@crewboard/contracts';
import { expect, test } from 'vitest';
import { AS_ADMIN, type LocalStack, openLocalStack } from '../support/local-stack.ts';
import { gate, reply, startScriptedApi, toolUse } from '../support/scripted-messages-api.ts';
import { taskIdIn } from './support/conversation.ts';

interface Message {
  event: string;
  id: string;
  data: unknown;
}

/** One event stream over a connection of its own, as no client library reads it. */
interface RawStream extends AsyncDisposable {
  status: number;
  headers: IncomingMessage['headers'];
  messages: AsyncGenerator<Message>;
  /** Drops the connection. */
  cut(): void;
}

async function* messagesIn(answer: IncomingMessage): AsyncGenerator<Message> {
  let message: Partial<Record<string, string>> = {};
  for await (const line of createInterface(answer)) {
    const [, field = '', value = ''] = /^([^:]*): ?(.*)$/.exec(line) ?? [];
    if (line !== '') message = { ...message, [field]: value };
    else if (message.data !== undefined) {
      yield { event: message.event ?? '', id: message.id ?? '', data: JSON.parse(message.data) };
      message = {};
    } else message = {};
  }
}

async function openStream(
  stack: LocalStack,
  jobId: string,
  { query = '', lastEventId }: { query?: string; lastEventId?: string | undefined } = {},
): Promise<RawStream> {
  const url = new URL(`/v1/jobs/${jobId}/events${query}`, stack.url);
  const headers = { ...AS_ADMIN, ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }) };
  const sent = request(url, { headers, agent: false }).end();
  const [answer]: IncomingMessage[] = await once(sent, 'response');
  if (answer === undefined) throw new Error('no answer');
  // A cut connection ends the reading; only what came before it counts.
  answer.on('error', () => {});
  return {
    status: answer.statusCode ?? 0,
    headers: answer.headers,
    messages: messagesIn(answer),
    cut: () => answer.destroy(),
    async [Symbol.asyncDispose]() {
      answer.destroy();
    },
  };
}

async function take(stream: RawStream, most = Number.POSITIVE_INFINITY): Promise<Message[]> {
  const taken: Message[] = [];
  while (taken.length < most) {
    const { done, value } = await stream.messages.next();
    if (done) break;
    taken.push(value);
  }
  return taken;
}

const idsOf = (messages: readonly { id: string }[]) => messages.map(({ id }) => id);

/** The whole log by pages of `limit`. */
async function listed(stack: LocalStack, jobId: string, limit: number): Promise<BoardEvent[]> {
  const events: BoardEvent[] = [];
  for (let cursor: string | undefined = '0-0'; cursor !== undefined; ) {
    const path = `/v1/jobs/${jobId}/events?after=${cursor}&limit=${limit}`;
    const page = EventList.parse(
      (await stack.call('GET', path, undefined, { accept: 'application/json' })).json,
    );
    expect(page.events.length).toBeLessThanOrEqual(limit);
    events.push(...page.events);
    cursor = page.nextCursor;
  }
  return events;
}

const tasks = Array.from({ length: 12 }, (_, i) => ({ key: `k${i}`, title: `Task ${i}` }));

test('a stream cut at event 10 goes on after it: each event once, over a restart of the API, to the terminal one', async () => {
  await using stack = await openLocalStack();
  const { id } = await stack.client.jobs.submit({ tasks });
  await using first = await openStream(stack, id);
  const before = await take(first, 10);
  first.cut();
  await stack.restartApi();

  await using second = await openStream(stack, id, { lastEventId: before.at(-1)?.id });
  const after = await take(second);
  const all = [...before, ...after];
  const log = await listed(stack, id, 7);
  expect(idsOf(all)).toEqual(idsOf(log));
  expect(all.map(({ data }) => BoardEvent.parse(data))).toEqual(log);
  expect(all.map(({ event }) => event)).toEqual(log.map(({ type }) => type));
  expect(after.length).toBeGreaterThan(tasks.length * 2);
  expect(after.at(-1)?.event).toBe('job.succeeded');
  expect(log.at(-1)?.type).toBe('job.succeeded');

  await using whole = await openStream(stack, id);
  expect(whole).toMatchObject({
    status: 200,
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' },
  });
  expect(whole.headers).not.toHaveProperty('content-encoding');
  expect(idsOf(await take(whole))).toEqual(idsOf(log));

  await using over = await openStream(stack, id, { lastEventId: log.at(-1)?.id });
  expect(over.status).toBe(204);
});

test('after=now brings what follows and nothing before; a list and the stream from its asOf have no gap', async () => {
  const held = gate(reply([]));
  await using model = await startScriptedApi(async (body) => {
    await held.opened;
    return reply([toolUse('board_submit', { taskId: taskIdIn(body), summary: 'Done.' })]);
  });
  await using stack = await openLocalStack({ provider: { url: model.url, key: 'k' } });
  const { id } = await stack.client.jobs.submit({ tasks: tasks.slice(0, 2) });
  await model.arrived(2);
  const { asOf } = await stack.client.tasks.list(id);
  await using live = await openStream(stack, id, { query: '?after=now' });
  await using fromList = await openStream(stack, id, { query: `?after=${asOf}` });
  held.open();

  const seen = idsOf(await take(live));
  const log = await listed(stack, id, 100);
  const known = log.findIndex((event) => event.id === asOf);
  expect(known).toBeGreaterThan(0);
  expect(seen).toEqual(idsOf(log.slice(known + 1)));
  expect(idsOf(await take(fromList))).toEqual(seen);
});

test('an ID that is not in the log brings one resync to the newest event, then what follows', async () => {
  const held = gate(reply([]));
  await using model = await startScriptedApi(async (body) => {
    await held.opened;
    return reply([toolUse('board_submit', { taskId: taskIdIn(body), summary: 'Done.' })]);
  });
  await using stack = await openLocalStack({ provider: { url: model.url, key: 'k' } });
  const { id } = await stack.client.jobs.submit({ tasks: tasks.slice(0, 1) });
  await model.arrived(1);
  await using stream = await openStream(stack, id, { lastEventId: '1-7' });
  const [resync] = await take(stream, 1);
  const newest = (await listed(stack, id, 100)).at(-1)?.id;
  expect(resync).toEqual({ event: 'resync', id: newest, data: { asOf: newest } });
  held.open();

  const rest = await take(stream);
  expect(rest.map(({ event }) => event)).not.toContain('resync');
  const log = await listed(stack, id, 100);
  expect(idsOf(rest)).toEqual(idsOf(log.slice(log.findIndex((event) => event.id === newest) + 1)));
  expect(rest.at(-1)?.event).toBe('job.succeeded');
});

test('the events fold to what the board says of each task', async () => {
  await using stack = await openLocalStack();
  const chain = tasks.map((task, i) => ({ ...task, ...(i === 0 ? {} : { dependsOn: [`k${i - 1}`] }) }));
  const job = await stack.run({ tasks: chain.slice(0, 4) });
  const folded = new Map<string, object>();
  for (const { taskId, status, version, attempt } of await listed(stack, job.id, 100)) {
    if (taskId !== undefined) folded.set(taskId, { status, version, attempt });
  }
  const board = (await stack.client.tasks.list(job.id)).tasks;
  expect(board).toHaveLength(4);
  for (const { id, status, version, attempt } of board) {
    expect(folded.get(id)).toEqual({ status, version, attempt });
  }
});
