import type { Boards, Hold } from '@crewboard/board';
import {
  BoardSubmitInput,
  CrewboardError,
  type Evidence,
  type JobSpec,
  type Journal,
  type Tool,
  type ToolAnswer,
  type ToolContext,
} from '@crewboard/contracts';
import { checkFailed, failureTold, passTold } from '../checks/check-failure.ts';
import type { CheckRunner } from '../checks/check-runner.ts';
import type { RunningCheck } from '../checks/running-check.ts';
import { checksOf, isChecked } from '../checks/task-checks.ts';
import { verdictNote } from '../checks/verdict-notes.ts';
import { nextAfterSubmit, refuseUnfitSubmission } from '../submission.ts';
import { refuseForeign } from './end-tools.ts';
import type { ShownTask } from './shown-task.ts';

export interface SubmitDependencies {
  boards: Boards;
  hold: Hold;
  shown: ShownTask;
  journal: Journal;
  checks: CheckRunner;
  runningCheck: RunningCheck;
  job: JobSpec;
  /** Checks last longer than other tools may: as long as the attempt. */
  timeoutMs: number;
}

/**
 * Runs the checks of a submission while the task is held. Returns their evidence, or how the attempt ends because they
 * could not be run, which is no fault of the work. Throws `check_failed`, and what the board says to the holder.
 */
async function passChecks(
  { boards, hold, shown: { task }, journal, checks, runningCheck, job }: SubmitDependencies,
  output: BoardSubmitInput['output'],
  { requestId, signal }: ToolContext,
): Promise<Evidence[] | ToolAnswer> {
  if (!isChecked(task)) return [];
  // Accepted already, or for a version that is past: then nothing is to be checked.
  if ((await boards.checkHold(hold, requestId, 'submit', task.version)) === 'repeat') return [];
  const end = await checks.run(task, output, job, signal, runningCheck.is).catch((error: unknown) => {
    signal.throwIfAborted();
    if (error instanceof CrewboardError) return error;
    throw error;
  });
  runningCheck.is(undefined);
  if (end instanceof CrewboardError) {
    return { content: '', end: { kind: 'failed', class: 'infra', reason: end.detail } };
  }
  const failure = end.passed ? undefined : end.failure;
  const told = failure === undefined ? passTold(checksOf(task)) : failureTold(failure);
  // Refused when the task was edited meanwhile: then it was another task that was checked.
  await boards.tellChecked(hold, requestId, task.version, told);
  await journal.append(verdictNote(failure));
  if (!end.passed) throw checkFailed(end.failure);
  return end.evidence;
}

/** `board_submit`: completes the own task once its checks pass. */
export function createBoardSubmitTool(dependencies: SubmitDependencies): Tool<BoardSubmitInput> {
  const { boards, hold, shown, timeoutMs } = dependencies;
  return {
    name: 'board_submit',
    description:
      'Completes your task: {taskId, summary (at most 2 KB), output? (at most 64 KB, or {"ref"} of an artifact), evidence?: [{acceptanceId, kind: "statement", text} or {acceptanceId, kind: "artifact", ref}], artifacts?: refs or paths of what write_artifact stored (default: all)}. Ends your work. When your task has outputSchema or checks, they are run first: if one fails you are told what it said; mend that and submit again.',
    inputSchema: BoardSubmitInput,
    readOnly: false,
    idempotent: true,
    endsAttempt: true,
    timeoutMs,
    async execute({ taskId, summary, output, evidence = [], artifacts }, context) {
      refuseForeign(hold.taskId, taskId);
      const { task } = shown;
      refuseUnfitSubmission(task, evidence);
      const passed = await passChecks(dependencies, output, context);
      if (!Array.isArray(passed)) return passed;
      const result = { summary, output, artifacts, evidence: [...evidence, ...passed] };
      await boards.submit(hold, context.requestId, task.version, result, nextAfterSubmit(task.policy));
      return { content: '', end: { kind: 'done' } };
    },
  };
}
