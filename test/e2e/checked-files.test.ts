import type { ResultLine } from '@crewboard/contracts';
import { expect, it } from 'vitest';
import { compareWithFiles, filesToMigrate, migrate, migrationJob } from '../support/checked-files.ts';
import { openStack } from '../support/stack.ts';

const FILES = 20;

it(`${FILES} files are migrated: every completed one passes its check on the final tree, the others say what it said`, {
  timeout: 120_000,
}, async () => {
  await using folder = await filesToMigrate(FILES);
  await using stack = await openStack({
    answer: migrate,
    variables: {
      CREWBOARD_COMMANDS: 'host',
      CREWBOARD_WORKSPACES: folder.path,
      CREWBOARD_LEASE_MS: '10000',
    },
  });
  await stack.startWorker();
  const { id } = await stack.client.jobs.submit(migrationJob(FILES, folder.path));
  const job = await stack.untilEnded(id);
  const lines: ResultLine[] = [];
  for await (const line of stack.client.jobs.results(id)) lines.push(line);
  expect(await compareWithFiles(folder.path, lines)).toEqual({ wrong: [], completed: 18, failed: 2 });
  expect(job).toMatchObject({ status: 'partial', counts: { total: FILES, completed: 18, failed: 2 } });
  const { tasks } = await stack.boards.page(id, { after: 0, limit: FILES, full: true });
  for (const { status, failures, evidence } of tasks) {
    if (status === 'failed') expect(failures).toBe(2);
    else expect(evidence).toMatchObject([{ kind: 'check', acceptanceId: 'const', passed: true }]);
  }
});
