import { CrewboardError } from '@crewboard/contracts';
import type { Asker } from './allowed-actions.ts';
import type { BoardIo } from './board-io.ts';
import { readTaskFacts } from './refusal-facts.ts';

/** Codes of errors that say nothing of a task's state. */
const NOT_ABOUT = ['unavailable', 'not_found'];

/** What errors that no script has made say of a task. */
export function aboutTasks(io: BoardIo) {
  return {
    /**
     * Returns `error` with the task as it is now and what `asker` can do with it, where it is a refusal that says
     * nothing of that yet; anything else as it is.
     */
    async aboutTask(error: unknown, jobId: string, taskId: string, asker: Asker): Promise<unknown> {
      if (!(error instanceof CrewboardError) || NOT_ABOUT.includes(error.code)) return error;
      if (error.extras.current !== undefined) return error;
      const read = (taskIds: readonly string[]) => io.run(jobId, 'read_tasks', [0, ...taskIds]);
      const facts = await readTaskFacts(read, taskId, asker);
      if (facts === undefined) return error;
      return error.with({ current: facts.current, allowed: error.extras.allowed ?? facts.allowed });
    },
  };
}
