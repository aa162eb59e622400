import type { BoardEvent } from '@crewboard/contracts';
import { expect, test } from 'vitest';
import { repliesIn } from '../regression/support.ts';
import {
  delay,
  type RecordedRequest,
  rateLimited,
  reply,
  startScriptedApi,
  toolUse,
} from '../support/scripted-messages-api.ts';
import { openStack } from '../support/stack.ts';
import { taskIdIn } from './support/conversation.ts';

const AGENTS = 60;
/** How long a call takes: so the number of calls at once is the throughput. */
const CALL_MS = 1000;
const ASKED_MS = 3000;
/** What had been let go before the brake was known may still start. */
const TOLERANCE_MS = 200;
/** In the middle of their work: everybody has had some turns. */
const REFUSED_CALL = AGENTS * 3 + 1;
/** Of the agents, so many call at once again: the rest is between two turns. */
const RECOVERED = AGENTS * 0.85;

/** When a request had arrived, by the clock of the machine, which is that of Redis too. */
const clockOf = ({ atMs }: RecordedRequest) => performance.timeOrigin + atMs;

test('one 429 in the full traffic of sixty agents stops all of them at once, and their throughput comes back', async () => {
  let underWay = 0;
  let isRecovered = false;
  await using api = await startScriptedApi((request, number) => {
    underWay += 1;
    void api.requests[number - 1]?.ended.then(() => underWay--);
    if (number === REFUSED_CALL) return rateLimited(ASKED_MS / 1000);
    isRecovered ||= number > REFUSED_CALL + AGENTS && underWay >= RECOVERED;
    const taskId = taskIdIn(request);
    const call = isRecovered
      ? toolUse('board_submit', { taskId, summary: 'Done.' })
      : toolUse('board_note', { taskId, text: `Turn ${repliesIn(request)}.` });
    return delay(CALL_MS, reply([call]));
  });
  await using stack = await openStack({
    variables: { ANTHROPIC_BASE_URL: api.url, CREWBOARD_CONCURRENCY: '20' },
  });
  await Promise.all([1, 2, 3].map(() => stack.startWorker()));
  const { id } = await stack.client.jobs.submit({
    tasks: Array.from({ length: AGENTS }, (_, i) => ({ title: `Row ${i + 1}` })),
    limits: { maxParallel: AGENTS },
  });
  const events: BoardEvent[] = [];
  const job = await stack.untilEnded(id, (event) => events.push(event));

  // Halved at the brake, the number of calls at once grew back by itself.
  expect(isRecovered).toBe(true);
  expect(job).toMatchObject({ status: 'succeeded', counts: { completed: AGENTS } });
  const braked = events.filter(({ type }) => type === 'rate.braked');
  expect(braked).toHaveLength(1);
  const until = Date.parse(String(braked[0]?.data?.until));
  const early = api.requests
    .map(clockOf)
    .filter((at) => at > until - ASKED_MS + TOLERANCE_MS && at < until)
    .map((at) => at - until);
  expect(early).toEqual([]);
  const later = api.requests.map(clockOf).filter((at) => at >= until);
  const first = later.slice(0, AGENTS / 2);
  expect(Math.max(...first) - Math.min(...first)).toBeGreaterThanOrEqual(500);
  // The leases of 2 s were kept at the brake, and no conversation began anew.
  const { tasks } = await stack.boards.page(id, { after: 0, limit: AGENTS });
  expect(tasks.map(({ attempt, failures }) => [attempt, failures])).toEqual(tasks.map(() => [1, 0]));
  const ends = ['task.parked', 'task.expired', 'task.failed', 'task.released'];
  expect(events.map(({ type }) => type).filter((type) => ends.includes(type))).toEqual([]);
}, 120_000);
