import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { findExample } from '../../apps/cli/src/commands/example.ts';
import { readConfig } from '../../apps/cli/src/config.ts';
import { dataFolder } from '../../apps/cli/src/local/data-folder.ts';
import type { Instance } from '../../apps/cli/src/local/instance.ts';
import { fakeService } from '../api/fake-service.ts';
import { ADMIN_KEY, type OpenApp, openApp } from '../api/open-app.ts';
import { anEvent, JOB_ID } from '../api/records.ts';
import { recordedTerminal } from './support/terminal.ts';

const EXAMPLES = dirname(fileURLToPath(new URL('../../examples/docs-review.json', import.meta.url)));
const never = new AbortController().signal;

function instanceAt(app: OpenApp): Instance {
  return {
    url: app.url,
    host: '127.0.0.1',
    apiKey: ADMIN_KEY,
    folder: dataFolder('/srv/data'),
    redis: { kind: 'embedded', url: 'redis://127.0.0.1:1', text: 'embedded' },
    simulated: true,
    pids: () => ({}),
    stop: async () => {},
  };
}

test('submits the example when there is no job, follows it and shows result and places to look', async () => {
  const fake = fakeService();
  const service = { ...fake.service, listJobs: async () => ({ jobs: [] }) };
  await using app = await openApp({ service });
  const terminal = recordedTerminal();
  const example = await findExample(readConfig({}));
  const run = example.run(instanceAt(app), terminal, never);
  await fake.followersAre(1);
  fake.append(anEvent(1, { type: 'job.succeeded', data: {} }));
  await run;
  expect(fake.calls[0]).toMatchObject({
    method: 'submitJob',
    args: [{ workspace: { path: join(EXAMPLES, 'docs') } }, expect.any(String)],
  });
  expect(terminal.out()).toContain(`Job ${JOB_ID} succeeded`);
  const said = terminal.messages.join('\n');
  expect(said).toContain(`${app.url}/admin/queues`);
  expect(said).toContain(`npx crewboard results ${JOB_ID}`);
  expect(said).toContain(`curl -H "Authorization: Bearer $(cat `);
  expect(said).not.toContain(ADMIN_KEY);
});

test('shows the last job instead when there is one already', async () => {
  await using app = await openApp();
  const terminal = recordedTerminal();
  const example = await findExample(readConfig({}));
  await example.run(instanceAt(app), terminal, never);
  expect(app.fake.calls.map(({ method }) => method)).toEqual(['listJobs']);
  expect(terminal.messages[0]).toBe(
    'There are jobs already, so no example is submitted. The last one: Summarise the docs',
  );
  expect(terminal.messages[1]).toContain(JOB_ID);
});

test("allows the example's folder besides what the user allows", async () => {
  const example = await findExample(readConfig({ CREWBOARD_WORKSPACES: '/srv/site' }));
  expect(example.workspaces.split(delimiter)).toEqual(['/srv/site', EXAMPLES]);
});
