import type { Boards } from '@crewboard/board';
import { type JobSpec, NO_USAGE, type Task } from '@crewboard/contracts';
import type { RunAgentOnce, RunningAttempt } from '../attempt.ts';
import { isChecked, runsCommands } from '../checks/task-checks.ts';

/** True for a task that a worker without commands can't do. */
export function needsCommands(spec: JobSpec, task: Task): boolean {
  const forChecks = isChecked(task) && runsCommands(task);
  return task.executor === 'command' || spec.tools.includes('run_command') || forChecks;
}

/**
 * Gives a task that needs commands back for a while, from a worker that runs none: another one may take it, and it is
 * no fault of the task. The reason shows in its attempts and events.
 */
export async function prepareGivingBack(
  boards: Boards,
  delayMs: number,
  { hold, claimed }: RunningAttempt,
): Promise<RunAgentOnce> {
  return async () => {
    const reason = 'commands: this worker runs none (its CREWBOARD_COMMANDS is off)';
    const ended = { turns: 0, usage: NO_USAGE };
    try {
      await boards.park(hold, `end/${claimed.task.attempt}`, { delayMs, reason, strikesToFail: 0 });
      return { kind: 'done', ...ended };
    } catch (error) {
      return { kind: 'aborted', reason: error, ...ended };
    }
  };
}
