import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BoardEvent } from '@crewboard/contracts';
import { expect, test } from 'vitest';
import { runCli } from '../../apps/cli/src/program.ts';
import { ADMIN_KEY, openApp } from '../api/open-app.ts';
import { anEvent } from '../api/records.ts';
import { openTestFolder } from './support/folder.ts';
import { recordedTerminal } from './support/terminal.ts';

/** The lines about models that someone sees who runs a job with these events. */
async function watched(...events: Partial<BoardEvent>[]): Promise<string[]> {
  await using app = await openApp();
  await using folder = await openTestFolder();
  const file = join(folder.path, 'job.json');
  await writeFile(file, JSON.stringify({ goal: 'Summarise' }));
  const terminal = recordedTerminal();
  const variables = { CREWBOARD_URL: app.url, CREWBOARD_API_KEY: ADMIN_KEY };
  const code = runCli(['run', file], terminal, variables);
  await app.fake.followersAre(1);
  for (const [i, event] of events.entries()) app.fake.append(anEvent(i + 1, event));
  app.fake.append(anEvent(events.length + 1, { type: 'job.succeeded', data: {} }));
  await code;
  return terminal.messages.filter((line) => line.includes('some-model'));
}

const braked = (until: string, reason: string): Partial<BoardEvent> => ({
  type: 'rate.braked',
  at: '2026-01-01T12:00:00.000Z',
  data: { model: 'some-model', until, reason },
});
/** By the clock of this machine, as the line shows it. */
const clock = (iso: string) => new Date(iso).toLocaleTimeString('en-GB');

test('says that calls are held back, for how long, until when and why', async () => {
  const until = '2026-01-01T12:00:30.000Z';
  expect(await watched(braked(until, 'the model answered 429\u001b[2J'))).toEqual([
    `calls of some-model are held back for 30 s, until ${clock(until)}: the model answered 429\\u001b[2J`,
  ]);
});

test('names the day when it is another one', async () => {
  const until = '2026-01-03T12:00:00.000Z';
  const [line] = await watched(braked(until, '429'));
  expect(line).toBe(
    `calls of some-model are held back for 48 h 0 min, until Sat Jan 03 2026 ${clock(until)}: 429`,
  );
});

test('leaves out waits that nobody notices, and times that are none', async () => {
  expect(
    await watched(braked('2026-01-01T12:00:00.400Z', '529'), braked('soon', '529'), {
      type: 'rate.braked',
      data: { model: 'some-model' },
    }),
  ).toEqual([]);
});

test('says that a model answers nobody, and that it is back', async () => {
  const told = await watched(
    {
      type: 'rate.opened',
      data: { model: 'some-model', reason: 'provider: some-model answers nobody (529)' },
    },
    { type: 'rate.closed', data: { model: 'some-model' } },
  );
  expect(told).toEqual([
    'calls of some-model are held back until it answers again: provider: some-model answers nobody (529)',
    'some-model answers again: its tasks go on',
  ]);
});
