import { describe, expect, it } from 'vitest';
import { createTurns } from '../../packages/orchestrator/src/turns.ts';

const MANY = 20;
const PARTS = 10;

/** Many who each do their parts, one a turn; tells who had each turn, and how often the event loop had gone round by then. */
async function takeTurns(): Promise<{ who: number; round: number }[]> {
  const turns = createTurns();
  const had: { who: number; round: number }[] = [];
  let round = 0;
  let isOver = false;
  const goRound = () => {
    round++;
    if (!isOver) setImmediate(goRound);
  };
  setImmediate(goRound);
  const work = async (who: number) => {
    for (let part = 0; part < PARTS; part++) {
      await turns.mine();
      had.push({ who, round });
    }
  };
  await Promise.all(Array.from({ length: MANY }, (_, who) => work(who)));
  isOver = true;
  return had;
}

describe('turns', () => {
  it('go round: nobody has a second one while somebody waits for the first', async () => {
    const had = await takeTurns();
    const order = Array.from({ length: MANY }, (_, who) => who);
    for (let part = 0; part < PARTS; part++)
      expect(had.slice(part * MANY, (part + 1) * MANY).map(({ who }) => who)).toEqual(order);
  });

  it('leave the process a round of its own between any two', async () => {
    const rounds = (await takeTurns()).map(({ round }) => round);
    expect(new Set(rounds).size).toBe(MANY * PARTS);
  });
});
