import { CrewboardError } from '@crewboard/contracts';
import type { BoardIo } from './board-io.ts';
import { parseDependencies } from './records.ts';

const SLICE = 500;
/** Tasks that one check for cycles looks at, at most. */
const LOOKED_AT_MOST = 200_000;

/** Edges that a change would bring: task ID to the IDs it will depend on. */
export type NewEdges = ReadonlyMap<string, readonly string[]>;

/** A graph version that no board has: the script refuses or repeats as it would anyway, and changes nothing. */
const NO_GRAPH = 'cycle';

/**
 * Checks for cycles before a change, but leaves the word to the script where that refuses for another reason, for
 * token, repeat and version come first. Answers the graph version for the script, and the cycle that it must not
 * get past.
 */
export async function checkGraph(
  io: BoardIo,
  jobId: string,
  changed: NewEdges,
  graph: string,
): Promise<{ graph: string; cycle?: CrewboardError }> {
  try {
    await refuseCycles(io, jobId, changed);
    return { graph };
  } catch (error) {
    if (!(error instanceof CrewboardError) || error.code !== 'dependency_cycle') throw error;
    return { graph: NO_GRAPH, cycle: error };
  }
}

/**
 * Checks that `changed` tasks with their new dependencies close no cycle, by walking up from each over stored and new
 * edges, in slices. The script compares the graph version afterwards, so a graph that moved meanwhile is checked again.
 * Throws `dependency_cycle` with the path.
 */
async function refuseCycles(io: BoardIo, jobId: string, changed: NewEdges): Promise<void> {
  for (const [target, first] of changed) {
    const cameFrom = new Map<string, string>(first.map((id) => [id, target]));
    for (let frontier = [...first]; frontier.length > 0; ) {
      if (cameFrom.has(target)) throw cycle(target, cameFrom);
      if (cameFrom.size > LOOKED_AT_MOST) {
        throw new CrewboardError(
          'limit_exceeded',
          `more than ${LOOKED_AT_MOST} tasks stand above ${target}. Nothing was changed.`,
        );
      }
      const next: string[] = [];
      for (let at = 0; at < frontier.length; at += SLICE) {
        const ids = frontier.slice(at, at + SLICE);
        const stored = await io.guard(() => io.redis.hmget(io.keys.board(jobId, 'deps'), ...ids));
        for (const [i, id] of ids.entries()) {
          const above = changed.get(id) ?? parseDependencies(stored[i] ?? '').map((edge) => edge.task);
          for (const dependency of above) {
            if (cameFrom.has(dependency)) continue;
            cameFrom.set(dependency, id);
            next.push(dependency);
          }
        }
      }
      frontier = next;
    }
    if (cameFrom.has(target)) throw cycle(target, cameFrom);
  }
}

/** The path of a cycle from `target` back to it; each task depends on the next. */
function cycle(target: string, cameFrom: ReadonlyMap<string, string>): CrewboardError {
  const path = [target];
  for (
    let id = cameFrom.get(target);
    id !== undefined && id !== target && path.length < 100;
    id = cameFrom.get(id)
  ) {
    path.push(id);
  }
  path.push(target);
  path.reverse();
  return new CrewboardError(
    'dependency_cycle',
    `the dependencies form a cycle: ${path.join(' -> ')}. Nothing was changed.`,
    {
      cycle: path,
    },
  );
}
