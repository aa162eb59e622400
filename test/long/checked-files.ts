import { Redis } from 'ioredis';
import type { ResultLine } from '../../packages/contracts/src/index.ts';
import { compareWithFiles, filesToMigrate, migrate, migrationJob } from '../support/checked-files.ts';
import { startTestRedis } from '../support/redis-server.ts';
import { openStack } from '../support/stack.ts';

/**
 * Migrates many small files by a model that gets a third of them wrong at first and a tenth for good, over three workers
 * of which one is killed half-way; then every file is compared with what its task says. Argument: files (300).
 */
const FILES = Number(process.argv[2] ?? 300);
const PREFIX = '{checked-files}';

const server = await startTestRedis();
if (server.kind !== 'server') throw new Error('this run needs a redis-server on PATH');
const redis = new Redis(server.url, { maxRetriesPerRequest: null });
const store = {
  redis,
  url: server.url,
  prefix: PREFIX,
  async [Symbol.asyncDispose]() {
    redis.disconnect();
  },
};
try {
  await using folder = await filesToMigrate(FILES);
  await using stack = await openStack({
    store,
    answer: migrate,
    variables: { CREWBOARD_COMMANDS: 'host', CREWBOARD_WORKSPACES: folder.path, CREWBOARD_LEASE_MS: '5000' },
  });
  const workers = await Promise.all([stack.startWorker(), stack.startWorker(), stack.startWorker()]);
  const startedAt = performance.now();
  const { id } = await stack.client.jobs.submit({
    ...migrationJob(FILES, folder.path),
    limits: { maxParallel: 24 },
  });
  let completed = 0;
  let killed = false;
  const job = await stack.untilEnded(id, ({ type }) => {
    if (type === 'task.completed') completed += 1;
    if (killed || completed < FILES / 2) return;
    killed = true;
    void workers[0]?.kill();
  });
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const lines: ResultLine[] = [];
  for await (const line of stack.client.jobs.results(id)) lines.push(line);
  const { wrong, ...counts } = await compareWithFiles(folder.path, lines);
  process.stdout.write(
    `${FILES} files in ${seconds} s, one worker killed: ${job.status}, ${JSON.stringify(counts)}, ${wrong.length} wrong\n`,
  );
  for (const line of wrong) process.stdout.write(`${line}\n`);
  if (wrong.length > 0 || lines.length !== FILES) process.exitCode = 1;
} finally {
  await server.stop();
}
