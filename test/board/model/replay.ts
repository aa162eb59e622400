import { type Explored, firstState, makeMove, pathTo } from './explore.ts';
import type { Game, Move } from './games.ts';
import { type Bench, Comparison } from './run.ts';

/** Explored sequences, carried out in Redis beside the model. */

/** Evenly chosen paths to states, the longest first: shorter ones come as their beginnings. */
export function samplePaths({ layers }: Explored, most: number): Move[][] {
  const visits = layers.toReversed().flat();
  const every = Math.max(1, Math.floor(visits.length / most));
  return visits.filter((_, i) => i % every === 0).map(pathTo);
}

/**
 * Carries a path out, and at its end up to `more` of the moves that the board refuses there. Returns the number of
 * calls that were compared.
 */
export async function replay(bench: Bench, game: Game, path: readonly Move[], more: number): Promise<number> {
  let state = firstState(game);
  const comparison = await Comparison.open(bench, game.settings, game.tasks);
  let calls = 0;
  const make = async (move: Move) => {
    const made = makeMove(state, move);
    if (made === undefined) return;
    await comparison.call(made.call);
    calls += 1;
    state = made.next;
  };
  for (const move of path) await make(move);
  const refused = game.moves.filter((move) => makeMove(state, move)?.answer.word === 'refused');
  for (const move of refused.slice(0, more)) await make(move);
  await comparison.examine();
  return calls;
}
