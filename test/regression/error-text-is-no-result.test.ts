import { expect, test } from 'vitest';
import { overloaded, reply, startScriptedApi, toolUse } from '../support/scripted-messages-api.ts';
import { openScriptedStack, ownTask, titleOf } from './support.ts';

const TASKS = 20;
const LOST = 12;

test('twelve of twenty tasks meet 529 only: they fail as infra after their strikes, and no error text is a result', async () => {
  await using api = await startScriptedApi((request) => {
    const number = Number(/\d+/.exec(titleOf(request))?.[0]);
    if (number <= LOST) return overloaded();
    return reply([toolUse('board_submit', { taskId: ownTask(request), summary: `row ${number} is done` })]);
  });
  await using stack = await openScriptedStack(api, {
    variables: {
      CREWBOARD_MODEL_TRIES: '2',
      CREWBOARD_MODEL_RETRY_MS: '20',
      CREWBOARD_PARK_MS: '10',
      CREWBOARD_INFRA_STRIKES: '3',
    },
  });
  const { job, tasks } = await stack.run({
    tasks: Array.from({ length: TASKS }, (_, i) => ({ title: `Row ${i + 1}` })),
  });
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
  const { text } = await stack.local.call('GET', `/v1/jobs/${job.id}/results.jsonl`);
  const outputs = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  for (const { summary, output } of outputs)
    expect(JSON.stringify([summary, output])).not.toMatch(/overloaded|529/i);
});
