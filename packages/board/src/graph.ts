import { CrewboardError } from '@crewboard/contracts';
import type { BoardIo } from './board-io.ts';
import type { BoardKey } from './keys.ts';
import { Head, parseDependencies } from './records.ts';

const SLICE = 500;
/** Tasks that one check for cycles looks at, at most. */
const LOOKED_AT_MOST = 200_000;
/** Likewise where each task names one other: such a chain costs a round trip a link. */
const CHAIN_MOST = 1000;

/** Edges that a change would bring: task ID to the IDs that it will name. */
export type NewEdges = ReadonlyMap<string, readonly string[]>;

/** The ways in which tasks name others, none of which may lead back to the task. */
export type LinkField = 'dependsOn' | 'parent' | 'replaces';
export type ChangedLinks = Partial<Record<LinkField, NewEdges>>;

interface LinkKind {
  /** Begins "... a cycle: a -> b -> a". */
  forms: string;
  /** Which key of the board keeps it, and what a field of that names. */
  key: BoardKey;
  named(stored: string): string[];
  most: number;
}

const KINDS: Record<LinkField, LinkKind> = {
  dependsOn: {
    forms: 'the dependencies form',
    key: 'deps',
    named: (stored) => parseDependencies(stored).map((edge) => edge.task),
    most: LOOKED_AT_MOST,
  },
  parent: {
    forms: '"parent" forms',
    key: 'head',
    named: (stored) => [Head.parse(JSON.parse(stored)).parent ?? []].flat(),
    most: CHAIN_MOST,
  },
  replaces: { forms: '"replaces" forms', key: 'replaces', named: (stored) => [stored], most: CHAIN_MOST },
};

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
  changed: ChangedLinks,
  graph: string,
): Promise<{ graph: string; cycle?: CrewboardError }> {
  try {
    await refuseCycles(io, jobId, KINDS.dependsOn, changed.dependsOn);
    await refuseCycles(io, jobId, KINDS.parent, changed.parent);
    await refuseCycles(io, jobId, KINDS.replaces, changed.replaces);
    return { graph };
  } catch (error) {
    if (!(error instanceof CrewboardError) || error.code !== 'dependency_cycle') throw error;
    return { graph: NO_GRAPH, cycle: error };
  }
}

/**
 * Checks that `changed` tasks with what they will name close no cycle, by walking up from each over stored and new
 * edges, in slices. The script compares the graph version afterwards, so a graph that moved meanwhile is checked again.
 * Throws `dependency_cycle` with the path.
 */
async function refuseCycles(
  io: BoardIo,
  jobId: string,
  kind: LinkKind,
  changed: NewEdges = new Map(),
): Promise<void> {
  for (const [target, first] of changed) {
    const cameFrom = new Map<string, string>(first.map((id) => [id, target]));
    for (let frontier = [...first]; frontier.length > 0; ) {
      if (cameFrom.has(target)) throw cycle(kind, target, cameFrom);
      if (cameFrom.size > kind.most) {
        throw new CrewboardError('limit_exceeded', `more than ${kind.most} tasks stand above ${target}`);
      }
      const next: string[] = [];
      for (let at = 0; at < frontier.length; at += SLICE) {
        const ids = frontier.slice(at, at + SLICE);
        const stored = await io.guard(() => io.redis.hmget(io.keys.board(jobId, kind.key), ...ids));
        for (const [i, id] of ids.entries()) {
          const kept = stored[i] ?? '';
          const above = changed.get(id) ?? (kept === '' ? [] : kind.named(kept));
          for (const dependency of above) {
            if (cameFrom.has(dependency)) continue;
            cameFrom.set(dependency, id);
            next.push(dependency);
          }
        }
      }
      frontier = next;
    }
    if (cameFrom.has(target)) throw cycle(kind, target, cameFrom);
  }
}

/** The path of a cycle from `target` back to it; each task names the next. */
function cycle(kind: LinkKind, target: string, cameFrom: ReadonlyMap<string, string>): CrewboardError {
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
  return new CrewboardError('dependency_cycle', `${kind.forms} a cycle: ${path.join(' -> ')}`, {
    cycle: path,
  });
}
