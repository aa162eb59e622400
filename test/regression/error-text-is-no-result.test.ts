import { expect, test } from 'vitest';
import {
  isProbe,
  overloaded,
  reply,
  type ScriptedReply,
  startScriptedApi,
  text,
  toolUse,
} from '../support/scripted-messages-api.ts';
import { openScriptedStack, ownTask, titleOf } from './support.ts';

const TASKS = 20;
const LOST = 12;
/** A five-hundredth of the real park: an outage of ten minutes takes little more than a second. */
const SHORT = {
  CREWBOARD_MODEL_TRIES: '2',
  CREWBOARD_MODEL_RETRY_MS: '20',
  CREWBOARD_PARK_MS: '120',
  CREWBOARD_INFRA_STRIKES: '3',
};
const titles = Array.from({ length: TASKS }, (_, i) => ({ title: `Row ${i + 1}` }));

test('twelve of twenty tasks meet 529 only: they fail as infra after their strikes, and no error text is a result', async () => {
  await using api = await startScriptedApi((request) => {
    if (isProbe(request)) return reply([text('p')]);
    const number = Number(/\d+/.exec(titleOf(request))?.[0]);
    if (number <= LOST) return overloaded();
    return reply([toolUse('board_submit', { taskId: ownTask(request), summary: `row ${number} is done` })]);
  });
  await using stack = await openScriptedStack(api, {
    variables: { ...SHORT, CREWBOARD_PARK_MS: '10' },
  });
  const { job, tasks } = await stack.run({ tasks: titles });
  expect(job).toMatchObject({
    status: 'partial',
    counts: { total: TASKS, completed: TASKS - LOST, failed: LOST },
  });
  const [lost, done] = [tasks.slice(0, LOST), tasks.slice(LOST)];
  expect(lost.map(({ status, failure, failures }) => [status, failure?.class, failures])).toEqual(
    lost.map(() => ['failed', 'infra', 0]),
  );
  expect(lost.map(({ result }) => result)).toEqual(lost.map(() => undefined));
  expect(done.map(({ result }) => result?.summary)).toEqual(
    done.map((_, i) => `row ${LOST + i + 1} is done`),
  );
  const results = await stack.local.call('GET', `/v1/jobs/${job.id}/results.jsonl`);
  const outputs = results.text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  for (const { summary, output } of outputs)
    expect(JSON.stringify([summary, output])).not.toMatch(/overloaded|529/i);
});

test('all twenty meet 529 for long: none fails, they park and say why, and all complete once the model is back', async () => {
  let isUp = false;
  let underWay = 0;
  const probesAtOnce: number[] = [];
  await using api = await startScriptedApi((request): ScriptedReply => {
    const number = Number(/\d+/.exec(titleOf(request))?.[0]);
    const done = toolUse('board_submit', { taskId: ownTask(request), summary: `row ${number} is done` });
    if (!isProbe(request)) return isUp ? reply([done]) : overloaded();
    probesAtOnce.push(++underWay);
    void api.requests.at(-1)?.ended.then(() => underWay--);
    return isUp ? reply([text('p')]) : overloaded();
  });
  await using stack = await openScriptedStack(api, { variables: SHORT });
  const { client } = stack.local;
  const { id } = await client.jobs.submit({ tasks: titles });
  // The pauses between probes double from 10 to 120 ms: thirty of them
  // take three seconds, in real times half an hour.
  let parked = 0;
  for await (const { type } of client.jobs.events(id)) {
    if (type === 'task.parked' && ++parked === TASKS) break;
  }
  while (probesAtOnce.length < 30) await api.arrived(api.requests.length + 1);

  const during = await stack.read(id);
  const down = /^provider: \S+ answers nobody \(the model answered 529 overloaded_error: Overloaded\)/;
  expect(during.job).toMatchObject({
    status: 'running',
    statusReason: expect.stringMatching(down),
    counts: { failed: 0, scheduled: TASKS },
  });
  const [first] = during.tasks;
  const why = await stack.local.call('GET', `/v1/jobs/${id}/tasks/${first?.id}/why`);
  expect(why.json).toMatchObject({ text: expect.stringContaining('waits for its model: provider: ') });
  // Parked, no task calls the model any more; only the probe does, and never two of them.
  expect(api.requests.slice(-20).every(({ body }) => isProbe(body))).toBe(true);
  expect(Math.max(...probesAtOnce)).toBe(1);

  isUp = true;
  const types: string[] = [];
  for await (const { type } of client.jobs.events(id)) types.push(type);
  const { job, tasks } = await stack.read(id);
  expect(job).toMatchObject({ status: 'succeeded', counts: { total: TASKS, completed: TASKS } });
  expect(job.statusReason).toBeUndefined();
  expect(tasks.map(({ failures, result }) => [failures, result?.summary])).toEqual(
    tasks.map((_, i) => [0, `row ${i + 1} is done`]),
  );
  expect(types.filter((type) => ['rate.opened', 'rate.closed'].includes(type))).toEqual([
    'rate.opened',
    'rate.closed',
  ]);
  expect(types).not.toContain('task.failed');
});
