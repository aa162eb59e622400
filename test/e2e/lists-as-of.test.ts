import {
  type Artifact,
  ArtifactList,
  AttemptList,
  newSecret,
  type Task,
  TaskList,
} from '@crewboard/contracts';
import { expect, test } from 'vitest';
import { openRealApp, type RealApp } from '../api/open-real-app.ts';

const ROUNDS = 30;
const FILE = { bytes: 1, sha256: 'a'.repeat(64), contentType: 'text/plain', isKept: false };

/** What a list has shown, and the event that it named. */
interface Shown {
  asOf: string | undefined;
  attempts?: number;
  files?: readonly Artifact[];
  tasks?: readonly Task[];
}

async function listAll(app: RealApp, jobId: string, taskId: string): Promise<Shown[]> {
  const list = async (path: string) => (await app.send('GET', `/${jobId}${path}?limit=100`)).body;
  const attempts = AttemptList.parse(await list(`/tasks/${taskId}/attempts`));
  const files = ArtifactList.parse(await list('/artifacts'));
  const tasks = TaskList.parse(await list('/tasks'));
  return [
    { asOf: attempts.asOf, attempts: attempts.attempts.length },
    { asOf: files.asOf, files: files.artifacts },
    { asOf: tasks.asOf, tasks: tasks.tasks },
  ];
}

/** One task is claimed and given back, another one completed with a file, again and again. */
async function work({ board }: RealApp, jobId: string, again: string, others: readonly string[]) {
  for (const [i, other] of others.entries()) {
    const { hold } = await board.claim(jobId, again);
    await board.boards.release(hold, newSecret(), 'once more');
    const held = await board.claim(jobId, other);
    await board.boards.commitArtifact(held.hold, newSecret(), {
      ...FILE,
      ref: `a_${String(i).padStart(20, '0')}`,
      path: `${other}.txt`,
    });
    const result = { summary: 'Done.', artifacts: [`${other}.txt`], evidence: [] };
    await board.boards.submit(held.hold, newSecret(), held.task.version, result);
  }
}

test('lists of tasks, attempts and files lack nothing up to the event that they name, while all three change', async () => {
  await using app = await openRealApp();
  const { boards } = app.board;
  const keys = Array.from({ length: ROUNDS }, (_, i) => `k${i}`);
  const { jobId, ids } = await app.board.job(['again', ...keys].map((key) => ({ key, title: key })));
  const again = ids.again ?? '';
  const others = keys.map((key) => ids[key] ?? '');
  const lists: Shown[] = [];
  const working = work(app, jobId, again, others);
  const isOver = working.then(() => true);
  do lists.push(...(await listAll(app, jobId, again)));
  while (!(await Promise.race([isOver, false])));

  const log = await boards.events(jobId, '0-0', 1000);
  for (const { asOf, attempts, files, tasks = [] } of lists) {
    const at = log.findIndex(({ id }) => id === asOf);
    expect(at).toBeGreaterThanOrEqual(0);
    const known = log.slice(0, at + 1);
    const about = (type: string) => known.filter((event) => event.type === type);
    const claims = about('task.claimed').filter(({ taskId }) => taskId === again);
    expect(attempts ?? ROUNDS).toBeGreaterThanOrEqual(claims.length);
    expect(files?.length ?? ROUNDS).toBeGreaterThanOrEqual(about('task.completed').length);
    for (const { id, status, version } of tasks) {
      expect(known.findLast(({ taskId }) => taskId === id)).toMatchObject({ status, version });
    }
  }
  expect(new Set(lists.map(({ asOf }) => asOf)).size).toBeGreaterThan(3);
});
