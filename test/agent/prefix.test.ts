import { expect, it } from 'vitest';
import { openScriptedStack, ownTask } from '../regression/support.ts';
import {
  type MessagesRequest,
  reply,
  startScriptedApi,
  text,
  toolUse,
} from '../support/scripted-messages-api.ts';
import { LIMITS, recordingTool, runOn, submitTool } from './support.ts';

/** A request as bytes in the order in which providers cache it, up to its newest breakpoint: its last block. */
function cached({ tools, system, messages }: MessagesRequest): string {
  const unmarked = (key: string, value: unknown) => (key === 'cache_control' ? undefined : value);
  const bytes = JSON.stringify([tools, system, messages], unmarked);
  // Without the brackets that close the last message and the lists around it.
  return bytes.slice(0, -']}]]'.length);
}

it('across 20 turns what stands before the newest breakpoint is byte for byte the start of the next request', async () => {
  const TURNS = 20;
  await using api = await startScriptedApi((_, n) => {
    if (n === TURNS) return reply([toolUse('submit')]);
    if (n % 7 === 0) return reply([text('Hm.')]);
    if (n % 6 === 0) return reply([text(`Pause ${n}. \n`)], { stopReason: 'pause_turn' });
    return reply([text(`Step ${n}.`), toolUse('look', { n }), toolUse('look', { n, again: true })]);
  });
  const { outcome } = await runOn(api, {
    tools: [recordingTool([], { name: 'look' }), submitTool()],
    limits: { ...LIMITS, maxTurns: 24 },
    notices: async () => (api.requests.length % 5 === 0 ? [`notice ${api.requests.length}`] : []),
    checklistRemind: true,
  });
  expect(outcome).toMatchObject({ kind: 'done', turns: TURNS });
  const bytes = api.requests.map(({ body }) => cached(body));
  for (const [at, before] of bytes.entries()) {
    const next = bytes[at + 1];
    if (next !== undefined) expect(next.slice(0, before.length), `request ${at + 2}`).toBe(before);
  }
});

it('20 siblings share tools and system byte for byte', async () => {
  await using api = await startScriptedApi((request) =>
    reply([toolUse('board_submit', { taskId: ownTask(request), summary: 'done' })]),
  );
  await using stack = await openScriptedStack(api);
  const tasks = Array.from({ length: 20 }, (_, i) => ({ title: `Row ${i}`, input: { i }, priority: i % 5 }));
  const { job } = await stack.run({ tasks });
  expect(job).toMatchObject({ status: 'succeeded', counts: { total: 20, completed: 20 } });
  expect(api.requests).toHaveLength(20);
  const prefixes = api.requests.map(({ body }) => JSON.stringify([body.tools, body.system]));
  expect(new Set(prefixes).size).toBe(1);
});
