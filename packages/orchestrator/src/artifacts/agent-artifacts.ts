import type { AgentOptions } from '@crewboard/agent';
import type { Boards, Hold } from '@crewboard/board';
import { artifactRefIn, CrewboardError, type Task } from '@crewboard/contracts';
import type { ArtifactAccess } from '@crewboard/tools';
import { type ArtifactPlaces, putArtifact } from './put-artifact.ts';

/** Whose artifacts a sub-agent may read, for the description of its tool. */
export const OWN_ARTIFACTS =
  'You may read your own, by ref or path, those that the tasks in your dependsOn have submitted, and the one that your input names. A ref in the result of any other task is not readable from yours.';
/** Whose artifacts a lead may read. */
export const ALL_ARTIFACTS = 'You may read all of this job, by ref, or by the path under which a file shows.';

function notFound(detail: string, next: string): CrewboardError {
  return new CrewboardError('not_found', detail, { next });
}

/** How the refusal of an artifact goes on for a task that does not depend on its task. */
function dependOn(own: string, other: string): string {
  const block = JSON.stringify({ taskId: own, kind: 'dependency', on: other, reason: 'needs its file' });
  const get = JSON.stringify({ taskId: other });
  return `work with the summary and output that board_get ${get} shows; if only the file will do, board_block ${block} makes your task depend on that one, and it goes on where it is now`;
}

/** Why an agent may not read what it named, as the board stands now, and what it can do. */
async function notReadable(boards: Boards, jobId: string, name: string, reader?: string) {
  const shown = JSON.stringify(name.slice(0, 100));
  const other = reader === undefined ? undefined : await boards.findArtifact(jobId, name);
  if (reader === undefined)
    return notFound(`this job has no artifact ${shown}.`, 'take a ref from a result that board_get shows');
  if (other?.taskId === undefined)
    return notFound(
      `this job has no artifact ${shown}.`,
      'take a ref from <dependencies>, or from what write_artifact answered',
    );
  const { dependsOn } = await boards.task(jobId, reader);
  const isBehind = dependsOn.some(({ task }) => task === other.taskId);
  if (isBehind)
    return notFound(
      `the artifact ${shown} is of task ${other.taskId}, which has not submitted it.`,
      'take a ref from <dependencies>: these are submitted',
    );
  return notFound(
    `the artifact ${shown} is of task ${other.taskId}, on which yours does not depend, so you may not read it.`,
    dependOn(reader, other.taskId),
  );
}

/** What an agent may do with artifacts. `reader` is the task of a sub-agent; a lead reads the whole board's. */
export function agentArtifacts(places: ArtifactPlaces, hold: Hold, reader?: Task): ArtifactAccess {
  const { boards, artifacts } = places;
  return {
    async find(name) {
      const isInput = reader !== undefined && artifactRefIn(reader.input) === name;
      const found = await boards.findArtifact(hold.jobId, name, isInput ? undefined : reader?.id);
      if (found === undefined) throw await notReadable(boards, hold.jobId, name, reader?.id);
      return found;
    },
    open: ({ sha256 }) => artifacts.read(hold.jobId, sha256),
    write: ({ path, content }, call) => putArtifact(places, hold, { path, content, isKept: false }, call),
  };
}

/** A part of a path, of what may hold anything. */
const partOf = (text: string) => text.replace(/[^\w.-]+/g, '_').slice(0, 100);

/** How an attempt keeps the whole of an output: as an artifact of its own, which the task's results do not show. */
export function wholeKeeper(places: ArtifactPlaces, hold: Hold): NonNullable<AgentOptions['keepWhole']> {
  return async ({ content, path }, { requestId, signal }) => {
    const name = path === undefined ? 'output.txt' : (path.split('/').at(-1) ?? '');
    const folder = requestId.split('/').map(partOf).join('-');
    const file = {
      path: `tool-output/${hold.taskId}/${folder}/${partOf(name)}`,
      content: typeof content === 'string' ? new TextEncoder().encode(content) : content,
      isKept: true,
    };
    // Not under the call's own ID: a tool that only reads may run again, and answer something else.
    const { ref } = await putArtifact(places, hold, file, { requestId: '', signal });
    return ref;
  };
}
