import type { AgentOutcome } from '@crewboard/agent';
import type { Boards, Hold } from '@crewboard/board';
import {
  CrewboardError,
  type JobSpec,
  type Journal,
  type JournalEntry,
  NO_USAGE,
  type Task,
} from '@crewboard/contracts';
import type { CommandEnd } from '@crewboard/tools';
import type { RunAgentOnce, RunningAttempt } from '../attempt.ts';
import { fillPlaceholders } from '../checks/placeholders.ts';
import type { JobFacts } from '../job-facts.ts';
import { nextAfterSubmit } from '../submission.ts';
import type { WorkTools } from '../work-tools.ts';
import { CommandOutcome, failureOf, resultOf } from './outcome.ts';

export interface CommandDependencies {
  boards: Boards;
  workTools: WorkTools;
}

/** How often a result is submitted anew because the task was edited in a way that leaves its command alone. */
const SUBMITS_MOST = 5;

const NOTHING_SPENT = { turns: 0, usage: NO_USAGE };
const DONE: AgentOutcome = { kind: 'done', ...NOTHING_SPENT };

const nameOf = (attempt: number) => `command/${attempt}`;

/** What the journal says about the command of this attempt. */
function known(entries: readonly JournalEntry[], attempt: number): CommandEnd | 'started' | undefined {
  const own = entries.filter((entry) => entry.attempt === attempt);
  const result = own.findLast((entry) => entry.kind === 'tool.result');
  if (result?.kind === 'tool.result') return CommandOutcome.parse(JSON.parse(result.content));
  return own.some((entry) => entry.kind === 'tool.started') ? 'started' : undefined;
}

function timeoutOf(spec: JobSpec, task: Task): number {
  const ofAttempt = task.limits?.timeoutMs ?? spec.limits.taskTimeoutMs;
  return Math.min(task.command?.timeoutMs ?? ofAttempt, ofAttempt);
}

/** What `work` resolves with, or, as text, why what it was to start could not be started. */
async function orReason<T>(work: Promise<T>, signal: AbortSignal): Promise<T | string> {
  try {
    return await work;
  } catch (error) {
    if (!signal.aborted && error instanceof CrewboardError) return error.detail;
    throw error;
  }
}

/** Runs the command between its two journal entries; a string says why it could not be started. */
async function runJournalled(
  { workTools }: CommandDependencies,
  spec: JobSpec,
  task: Task,
  journal: Journal,
  signal: AbortSignal,
): Promise<CommandEnd | string> {
  const run = await orReason(workTools.runnerOf(spec), signal);
  if (typeof run === 'string') return run;
  const toolUseId = nameOf(task.attempt);
  await journal.append({ kind: 'tool.started', toolUseId, name: 'command' });
  const command = fillPlaceholders(task.command?.run ?? '', task.input, 'command.run');
  const started = run(command, { timeoutMs: timeoutOf(spec, task), signal });
  const end = await orReason(started, signal);
  if (typeof end === 'string') return end;
  const content = JSON.stringify(end);
  await journal.append({ kind: 'tool.result', toolUseId, content, isError: end.exitCode !== 0 });
  return end;
}

function hasSameCommand(a: Task, b: Task | undefined): b is Task {
  const whatRuns = ({ command, input }: Task) => JSON.stringify([command, input]);
  return b?.command !== undefined && whatRuns(a) === whatRuns(b);
}

/** Completes the task at the version that the command was run for; an edit of other things does not undo its end. */
async function submit(boards: Boards, hold: Hold, claimed: Task, end: CommandEnd): Promise<AgentOutcome> {
  const result = { ...resultOf(end), artifacts: [], evidence: [] };
  let task = claimed;
  for (let tries = 1; ; tries++) {
    try {
      const requestId = `end/${claimed.attempt}`;
      await boards.submit(hold, requestId, task.version, result, nextAfterSubmit(task.policy));
      return DONE;
    } catch (error) {
      if (!(error instanceof CrewboardError) || error.code !== 'stale_version') throw error;
      const [now] = await boards.readTasks(hold.jobId, [hold.taskId], true);
      if (!hasSameCommand(claimed, now) || tries === SUBMITS_MOST) {
        return giveBack(boards, hold, claimed, 'the task was edited while its command ran');
      }
      task = now;
    }
  }
}

/** A command calls no model. */
type CommandAttempt = Omit<RunningAttempt, 'calls'>;

async function giveBack(boards: Boards, hold: Hold, task: Task, reason: string): Promise<AgentOutcome> {
  await boards.release(hold, `end/${task.attempt}`, reason);
  return DONE;
}

/**
 * Runs the attempt by its journal, so that it goes on right after a fence: an end that is journalled is not sought
 * again; a start without an end is over for this attempt, and only a new one may run the command again.
 */
async function runAttemptOnce(
  dependencies: CommandDependencies,
  spec: JobSpec,
  { hold, claimed: { task } }: CommandAttempt,
  signal: AbortSignal,
): Promise<AgentOutcome> {
  const { boards } = dependencies;
  const journal = await boards.openJournal(hold, { attempt: task.attempt });
  let end: CommandEnd | 'started' | string | undefined = known(journal.entries, task.attempt);
  if (end === 'started') return giveBack(boards, hold, task, 'its command was stopped');
  end ??= await runJournalled(dependencies, spec, task, journal, signal);
  if (typeof end === 'string') return { kind: 'failed', class: 'infra', reason: end, ...NOTHING_SPENT };
  if (end.exitCode !== 0) return { kind: 'failed', ...failureOf(end), ...NOTHING_SPENT };
  return submit(boards, hold, task, end);
}

/** Prepares the run of a claimed command task: no model, the same lease, journal and ends as an agent's. */
export async function prepareCommand(
  dependencies: CommandDependencies,
  { spec }: JobFacts,
  attempt: CommandAttempt,
): Promise<RunAgentOnce> {
  return async (signal) => {
    try {
      return await runAttemptOnce(dependencies, spec, attempt, signal);
    } catch (reason) {
      if (signal.aborted) return { kind: 'aborted', reason: signal.reason, ...NOTHING_SPENT };
      const isOurs = reason instanceof CrewboardError && ['lease_lost', 'unavailable'].includes(reason.code);
      if (isOurs) return { kind: 'aborted', reason, ...NOTHING_SPENT };
      const detail = reason instanceof Error ? reason.message : String(reason);
      return { kind: 'failed', class: 'infra', reason: detail, ...NOTHING_SPENT };
    }
  };
}
