import { createClient } from '@crewboard/client';
import { describe, expect, it } from 'vitest';
import { openRealApp } from '../api/open-real-app.ts';
import { API_KEY, type ApiProcess, AS_ADMIN, openApiProcesses } from '../support/api-processes.ts';
import type { Freeze } from '../support/redis-wire.ts';

/** 20 repeats at once, and another body under the same key: test/e2e/submit.test.ts. Calls on tasks: test/api/repeats.test.ts. */
const KEY = 'order-4711';
const BODY = {
  tasks: [
    { key: 'a', title: 'A', executor: 'external' },
    { key: 'b', title: 'B', executor: 'external', dependsOn: ['a'] },
  ],
};

async function submit({ url }: ApiProcess, body: unknown, key = KEY) {
  const answer = await fetch(`${url}/v1/jobs`, {
    method: 'POST',
    headers: { ...AS_ADMIN, 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify(body),
  });
  return { status: answer.status, json: await answer.json() };
}

/** Where the server that takes the first request dies. */
const CRASHES: [string, Freeze][] = [
  ['its key is bound and nothing else', { words: /set\r\n\$\d+\r\n[^\r]*order-4711\r\n/i, when: 'after' }],
  ['it is alone at work on its job', { words: /set\r\n\$\d+\r\n[^\r]*submitting[^\r]*\r\n/i, when: 'after' }],
];

describe('a submit under an Idempotency-Key', () => {
  it.each(CRASHES)(
    'whose server is killed when %s is carried out by its repeat, as one job',
    async (_, freeze) => {
      await using apis = await openApiProcesses();
      const [victim, other] = await Promise.all([apis.start(), apis.start()]);
      const frozen = victim.wire.freezeAt(freeze);
      const cut = submit(victim, BODY).catch(() => 'cut');
      await frozen;
      await victim.kill();
      expect(await cut).toBe('cut');
      await victim.wire.over();
      const bound = await apis.boards.index.boundTo('default', KEY);
      // Else it runs out by itself a while later.
      await apis.store.redis.del(apis.boards.keys.global(`submitting:${bound?.jobId}`));

      expect(await submit(other, { tasks: [{ title: 'Other', executor: 'external' }] })).toMatchObject({
        status: 422,
        json: { code: 'idempotency_mismatch' },
      });
      const answer = await submit(other, BODY);
      expect(answer).toMatchObject({ status: 202, json: { id: bound?.jobId, status: 'running' } });
      expect(await submit(other, BODY)).toEqual(answer);
      const client = createClient({ baseUrl: other.url, apiKey: API_KEY });
      expect((await client.jobs.list()).jobs).toMatchObject([{ id: bound?.jobId, counts: { total: 2 } }]);
    },
  );
});

describe('a message under an Idempotency-Key', () => {
  it('is one message however often it is sent at once, and no other one is taken under its key', async () => {
    await using app = await openRealApp();
    const { jobId, ids } = await app.board.job([{ key: 'a', title: 'A', executor: 'external' }]);
    const say = (text: string) =>
      app.send('POST', `/${jobId}/messages`, { text, target: ids.a }, { 'idempotency-key': KEY });
    const answers = await Promise.all(Array.from({ length: 20 }, () => say('Use metres.')));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]).toMatchObject({ status: 202 });
    expect(await say('Use feet.')).toMatchObject({ status: 422, body: { code: 'idempotency_mismatch' } });
    const log = await app.board.boards.events(jobId, '0-0', 100);
    expect(log.filter(({ type }) => type === 'message.accepted')).toHaveLength(1);
  });
});
