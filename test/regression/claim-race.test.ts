import { CrewboardError, newSecret } from '@crewboard/contracts';
import { expect, it } from 'vitest';
import { boardsOf } from '../support/boards-of.ts';
import { openLocalStack } from '../support/local-stack.ts';

const ROUNDS = 200;
const CLAIMERS = 20;

/** The winner's name, or the refusal of a loser. */
type Try = { won: string } | { lost: string; holder: string | undefined };

it('of 20 claimers over HTTP and from inside one wins, the others are told the holder, and nobody before it is ready', async () => {
  // The worker that takes part is this test: nothing else takes from the queues.
  await using stack = await openLocalStack({ worker: false });
  const boards = boardsOf(stack);
  const tasks = Array.from({ length: ROUNDS }, (_, i) => ({ key: `t${i}`, title: `T${i}` }));
  const waiting = { key: 'waits', title: 'Waits', dependsOn: ['t0'] };
  const { id: jobId } = await stack.client.jobs.submit({
    tasks: [...tasks, waiting],
    limits: { maxParallel: ROUNDS },
  });
  const ids: string[] = [];
  for (let after: number | undefined = 0; after !== undefined; ) {
    const page = await boards.page(jobId, { after, limit: 100 });
    ids.push(...page.tasks.map(({ id }) => id));
    after = page.nextAfter;
  }
  const overHttp = async (taskId: string, name: string) =>
    (await stack.client.tasks.claim(jobId, { taskId, owner: name })).task !== null;
  const inside = async (taskId: string, name: string) => {
    const owner = { kind: 'sub-agent' as const, id: name };
    const input = { taskId, owner, secret: newSecret(), requestId: newSecret(), leaseMs: 60_000 };
    return (await boards.claim(jobId, input)) !== undefined;
  };
  const tryClaim = async (taskId: string, i: number): Promise<Try> => {
    const name = `claimer-${i}`;
    try {
      await (i % 2 === 0 ? overHttp(taskId, name) : inside(taskId, name));
      return { won: name };
    } catch (error) {
      if (!(error instanceof CrewboardError)) throw error;
      const holder = error.extras.current?.owner;
      const id =
        typeof holder === 'object' && holder !== null && 'id' in holder ? String(holder.id) : undefined;
      return { lost: error.code, holder: id };
    }
  };
  for (const taskId of ids.slice(0, ROUNDS)) {
    const early = await tryClaim(ids[ROUNDS] ?? '', 0);
    expect(early).toMatchObject({ lost: 'not_ready' });
    const tries = await Promise.all(Array.from({ length: CLAIMERS }, (_, i) => tryClaim(taskId, i)));
    const winners = tries.flatMap((each) => ('won' in each ? [each.won] : []));
    expect(winners).toHaveLength(1);
    const losers = tries.filter((each) => 'lost' in each);
    expect(losers).toEqual(losers.map(() => ({ lost: 'already_claimed', holder: winners[0] })));
  }
  expect((await boards.job(jobId)).counts).toMatchObject({
    in_progress: ROUNDS,
    waiting: 1,
    total: ROUNDS + 1,
  });
});
