import type { AgentOptions } from '@crewboard/agent';
import type { Hold } from '@crewboard/board';
import { artifactRefIn, CrewboardError, type Task } from '@crewboard/contracts';
import type { ArtifactAccess } from '@crewboard/tools';
import { type ArtifactPlaces, putArtifact } from './put-artifact.ts';

/** Whose artifacts a sub-agent may read, for the description of its tool. */
export const OWN_ARTIFACTS =
  'You may read your own, by ref or path, those of the tasks that yours depends on, and the one that your input names.';
/** Whose artifacts a lead may read. */
export const ALL_ARTIFACTS = 'You may read all of this job, by ref, or by the path under which a file shows.';

function notReadable(name: string): CrewboardError {
  return new CrewboardError(
    'not_found',
    `there is no artifact ${JSON.stringify(name.slice(0, 100))} that you may read.`,
    { next: 'take a ref from a result, from <dependencies>, or from what write_artifact answered' },
  );
}

/** What an agent may do with artifacts. `reader` is the task of a sub-agent; a lead reads the whole board's. */
export function agentArtifacts(places: ArtifactPlaces, hold: Hold, reader?: Task): ArtifactAccess {
  const { boards, artifacts } = places;
  return {
    async find(name) {
      const isInput = reader !== undefined && artifactRefIn(reader.input) === name;
      const found = await boards.findArtifact(hold.jobId, name, isInput ? undefined : reader?.id);
      if (found === undefined) throw notReadable(name);
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
