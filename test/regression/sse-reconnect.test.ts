import { createClient } from '@crewboard/client';
import { newSecret } from '@crewboard/contracts';
import { describe, expect, it } from 'vitest';
import {
  API_KEY,
  type ApiProcess,
  type ApiProcesses,
  AS_ADMIN,
  openApiProcesses,
} from '../support/api-processes.ts';
import { openRawStream } from '../support/raw-stream.ts';

const COMMENT_WITHIN_MS = 16_000;

const clientOf = ({ url }: ApiProcess) => createClient({ baseUrl: url, apiKey: API_KEY });
const idsOf = (events: readonly { id: string }[]) => events.map(({ id }) => id);

/** A running job whose one task the test holds, and what can happen to it. */
async function heldJob(apis: ApiProcesses, api: ApiProcess) {
  const client = clientOf(api);
  const { id } = await client.jobs.submit({ tasks: [{ title: 'A', executor: 'external' }] });
  const claim = await client.tasks.claim(id, { owner: 'ann', leaseMs: 600_000 });
  if (claim.task === null) throw new Error('there is nothing to claim');
  const hold = { jobId: id, taskId: claim.task.id, token: claim.claimToken };
  const { version } = claim.task;
  const result = { summary: 'Done.', artifacts: [], evidence: [] };
  return {
    id,
    taskId: claim.task.id,
    async notes(count: number) {
      for (let i = 0; i < count; i++) await apis.boards.note(hold, newSecret(), `Note ${i}`);
    },
    end: () => apis.boards.submit(hold, newSecret(), version, result),
    log: () => apis.boards.events(id, '0-0', 1000),
    stream: (from: ApiProcess, lastEventId?: string) =>
      openRawStream(`${from.url}/v1/jobs/${id}/events`, {
        ...AS_ADMIN,
        ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
      }),
  };
}

describe('a stream that is opened again', () => {
  it('brings events 11 to 60 once each after a cut at 10 and a restart of the server, and ends with the job', async () => {
    await using apis = await openApiProcesses();
    const first = await apis.start();
    const job = await heldJob(apis, first);
    await job.notes(10);
    await using before = await job.stream(first);
    const seen = idsOf(await before.take(10));
    before.cut();
    await first.kill();
    await job.notes(60 - (await job.log()).length);

    const second = await apis.start();
    await using after = await job.stream(second, seen.at(-1));
    const rest = idsOf(await after.take(50));
    const log = idsOf(await job.log());
    expect(log).toHaveLength(60);
    expect([...seen, ...rest]).toEqual(log);

    await job.end();
    const last = await after.take();
    expect(last.at(-1)?.event).toBe('job.succeeded');
    expect(idsOf(last)).toEqual(idsOf((await job.log()).slice(60)));
    await using over = await job.stream(second, last.at(-1)?.id);
    expect(over.status).toBe(204);
  });

  it('at an event that has left the log is told so once, and goes on from the list without a gap', async () => {
    await using apis = await openApiProcesses();
    const api = await apis.start();
    const job = await heldJob(apis, api);
    await job.notes(20);
    const [oldest] = await job.log();
    await apis.store.redis.xtrim(apis.boards.keys.board(job.id, 'events'), 'MAXLEN', 5);

    await using stream = await job.stream(api, oldest?.id);
    const [resync] = await stream.take(1);
    const snapshot = await clientOf(api).tasks.list(job.id);
    expect(resync).toEqual({ event: 'resync', id: snapshot.asOf, data: { asOf: snapshot.asOf } });
    expect(snapshot.tasks).toMatchObject([{ id: job.taskId, status: 'in_progress' }]);
    await job.notes(3);
    await job.end();
    const rest = await stream.take();
    expect(rest.map(({ event }) => event)).not.toContain('resync');
    const log = idsOf(await job.log());
    expect(idsOf(rest)).toEqual(log.slice(log.indexOf(snapshot.asOf ?? '') + 1));

    const resyncs: string[] = [];
    const onResync = (asOf: string) => resyncs.push(asOf);
    for await (const event of clientOf(api).jobs.events(job.id, { after: '1-0', onResync })) {
      throw new Error(`${event.id} was sent, and the job is over`);
    }
    expect(resyncs).toEqual([log.at(-1)]);
  });

  it('is never collected or compressed on its way, and breaks its silence every 15 s', async () => {
    await using apis = await openApiProcesses();
    const api = await apis.start();
    const job = await heldJob(apis, api);
    const { asOf } = await clientOf(api).tasks.list(job.id);
    await using stream = await openRawStream(`${api.url}/v1/jobs/${job.id}/events`, {
      ...AS_ADMIN,
      'last-event-id': asOf ?? '',
      'accept-encoding': 'gzip, br, deflate',
    });
    const openedAt = performance.now();
    expect(stream.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    });
    expect(stream.headers).not.toHaveProperty('content-encoding');
    await stream.line(': still here');
    expect(performance.now() - openedAt).toBeLessThan(COMMENT_WITHIN_MS);
  });
});
