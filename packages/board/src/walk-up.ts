import { isLost, type TaskStatus } from '@crewboard/contracts';
import { z } from 'zod';
import type { BoardIo } from './board-io.ts';
import { statusOf } from './codes.ts';
import { parseReply } from './replies.ts';

const Reply = z.tuple([
  z.literal('ok'),
  z.array(z.tuple([z.string(), z.string(), z.number()])),
  z.string(),
  z.string(),
]);

/** Tasks that one walk sees at most, dependencies that one script looks at, and scripts that one walk runs. */
const SEEN_MOST = 20_000;
const LOOKED_AT_A_SCRIPT = 1000;
const SCRIPTS_MOST = 60;

/** The forms of lua/walk_up.lua. */
const ID_LENGTH = 10;
const PLACE_LENGTH = 27;
const placeOf = (taskId: string) => `${taskId}----------0000000`;
const idOf = (place: string) => place.slice(0, ID_LENGTH);

/** A task that nothing keeps but itself. */
export interface ChainEnd {
  taskId: string;
  status: TaskStatus;
  /** The dependency of the first task that it stands behind, or is. */
  via: string;
}

/** Where the chains above a task lead. */
export interface Above {
  /** Nearest first; with one that is failed or cancelled the walk was over. */
  ends: ChainEnd[];
  /** Tasks that were seen on the way. */
  seen: number;
  /** The first task from which the walk did not go on; absent when it went all the way. */
  stoppedAt: { taskId: string; via: string } | undefined;
}

/** Splits a text of parts of one length. */
function parts(text: string, length: number): string[] {
  return Array.from({ length: Math.floor(text.length / length) }, (_, i) =>
    text.slice(i * length, (i + 1) * length),
  );
}

/** Ways through the graph of dependencies. */
export function walks(io: BoardIo) {
  return {
    /**
     * Follows what keeps a task where it is - dependencies that a pending one waits for or can't be reached because
     * of, those that a cancelled one was lost with - up to where nothing keeps a task but itself, until an end is found
     * that is lost. At most `most` tasks are seen; a script goes a bounded part of the way.
     */
    async walkUp(jobId: string, taskId: string, most: number = SEEN_MOST): Promise<Above> {
      const ends = new Map<string, ChainEnd>();
      const seen = new Set([taskId]);
      let places = [placeOf(taskId)];
      for (let scripts = 0; places.length > 0 && scripts < SCRIPTS_MOST; scripts++) {
        const looks = Math.min(LOOKED_AT_A_SCRIPT, most + 1 - seen.size);
        if (looks <= 0 || [...ends.values()].some(isLost)) break;
        const [now, later] = [places.slice(0, LOOKED_AT_A_SCRIPT), places.slice(LOOKED_AT_A_SCRIPT)];
        const args = [looks, now.join('')];
        const [, found, seenNow, left] = parseReply(await io.run(jobId, 'walk_up', args), Reply);
        for (const [id, via, code] of found)
          if (!ends.has(id)) ends.set(id, { taskId: id, via, status: statusOf(code) });
        const begun = new Set(now.map(idOf));
        const rest = parts(left, PLACE_LENGTH);
        const added = rest.filter((place) => !begun.has(idOf(place)) && !seen.has(idOf(place)));
        places = [...rest.filter((place) => begun.has(idOf(place))), ...later, ...added];
        for (const id of parts(seenNow, ID_LENGTH)) seen.add(id);
      }
      const all = [...ends.values()];
      const [next] = all.some(isLost) ? [] : places;
      return {
        ends: all,
        seen: seen.size - 1,
        stoppedAt:
          next === undefined ? undefined : { taskId: idOf(next), via: next.slice(ID_LENGTH, 2 * ID_LENGTH) },
      };
    },
  };
}
