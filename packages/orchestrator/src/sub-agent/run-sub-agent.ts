import type { ModelCall } from '@crewboard/agent';
import { unfinishedWork } from '@crewboard/checklist';
import { newSecret, type Tool } from '@crewboard/contracts';
import { createReadArtifactTool, createWriteArtifactTool } from '@crewboard/tools';
import { activeMs } from '../active-time.ts';
import { agentArtifacts, OWN_ARTIFACTS, wholeKeeper } from '../artifacts/agent-artifacts.ts';
import type { ArtifactPlaces } from '../artifacts/put-artifact.ts';
import type { RunAgentOnce, RunningAttempt } from '../attempt.ts';
import {
  CARRIED_RESULTS,
  createBoardGetTool,
  createBoardListTool,
  dependencyResults,
} from '../board-tools.ts';
import { createCallBudget } from '../call-budget.ts';
import { blameChecks } from '../checks/blame.ts';
import type { CheckRunner } from '../checks/check-runner.ts';
import { createRunningCheck } from '../checks/running-check.ts';
import type { SchemaCompiler } from '../checks/schema-compiler.ts';
import { guardedTools } from '../guarded-tools.ts';
import type { JobFacts } from '../job-facts.ts';
import type { Log } from '../log.ts';
import { earlierMessages, messagesBefore, openMailbox } from '../messages/mailbox.ts';
import { pricesOf } from '../prices.ts';
import { limitsFor, parkAskedBy, runLogged } from '../run-agent-for.ts';
import type { Settings } from '../settings.ts';
import type { WorkTools } from '../work-tools.ts';
import { createBoardFailTool } from './end-tools.ts';
import { createBoardNoteTool, createChecklistTool } from './progress-tools.ts';
import { SUB_AGENT_SYSTEM, taskBlock, taskOpening } from './prompt.ts';
import { createBoardBlockTool, createBoardProposeTool } from './request-tools.ts';
import { continuationOf, followShownTask } from './shown-task.ts';
import { createBoardSubmitTool } from './submit-tool.ts';

export interface AgentDependencies extends ArtifactPlaces {
  settings: Settings;
  log: Log;
  callModel: ModelCall;
  workTools: WorkTools;
  checks: CheckRunner;
  schemas: SchemaCompiler;
}

/** Prepares the run of a claimed task: its tools, its first message, its journal. */
export async function prepareSubAgent(
  { boards, artifacts, settings, log, callModel, workTools, checks }: AgentDependencies,
  { spec }: JobFacts,
  { hold, claimed, lease }: RunningAttempt,
): Promise<RunAgentOnce> {
  const { task } = claimed;
  const shown = followShownTask(boards, hold, task);
  const mailbox = openMailbox(boards, hold, task.attempt);
  const journal = await boards.openJournal(hold, {
    attempt: task.attempt,
    messagesFor: mailbox.messagesFor,
  });
  const places = { boards, artifacts };
  const access = agentArtifacts(places, hold, task);
  const earlier = await boards.attempts(hold.jobId, task.id, task.attempt - 1);
  const limits = limitsFor(spec, task, settings, activeMs(earlier));
  const runningCheck = createRunningCheck();
  const submission = { boards, hold, shown, journal, checks, runningCheck, job: spec };
  const tools: Tool[] = [
    ...(await workTools.toolsOf(spec)),
    createChecklistTool(boards, hold, journal, spec.allowParallelInProgress),
    createBoardListTool(boards, hold.jobId),
    createBoardGetTool(boards, hold.jobId),
    createBoardNoteTool(boards, hold),
    createBoardBlockTool(boards, hold),
    createBoardProposeTool(boards, hold, task.owner?.id ?? 'sub-agent'),
    createReadArtifactTool(access, OWN_ARTIFACTS),
    createWriteArtifactTool(access),
    createBoardSubmitTool({ ...submission, timeoutMs: limits.timeoutMs }),
    createBoardFailTool(boards, hold, journal, settings.retryDelayMs * 2 ** task.failures),
  ];
  const dependencies = await dependencyResults(boards, hold.jobId, task, CARRIED_RESULTS);
  const goesOn = await continuationOf(boards, hold.jobId, task, {
    earlier,
    entries: journal.entries,
  });
  // The conversation of a failed attempt is not gone on with; once the new one has begun, it is.
  const begun = journal.entries.some((entry) => entry.kind === 'start' && entry.attempt === task.attempt);
  const fresh = claimed.fresh && !begun;
  return async (signal) => {
    const outcome = await runLogged(
      {
        model: task.model ?? spec.models.worker,
        system: SUB_AGENT_SYSTEM,
        tools: guardedTools(tools, hold, (tool, error) =>
          // A hint for the lead; an attempt that is over has other worries.
          boards
            .note(hold, newSecret(), `loop: ${tool} was refused again and again: ${error.code}`, {
              forLead: true,
            })
            .catch(() => {}),
        ),
        journal,
        callModel,
        budget: createCallBudget({ boards, prices: pricesOf(spec.provider, settings.prices), log }, hold),
        opening: [
          taskOpening(task, dependencies, earlier),
          ...(fresh ? earlierMessages(journal.entries) : []),
        ],
        fresh,
        attempt: task.attempt,
        ...goesOn,
        notices: async () => [...(await shown.news()), ...(await mailbox.notices(journal))],
        workState: async (keepFrom) => ({
          heldTask: taskBlock(shown.task),
          unfinishedTodos: unfinishedWork(journal.entries),
          messages: messagesBefore(journal.entries, keepFrom),
          openTasks: [],
        }),
        keepWhole: wholeKeeper(places, hold),
        limits,
        parkAsked: parkAskedBy(lease),
        checklistRemind: true,
        signal,
      },
      log,
      { jobId: hold.jobId, taskId: task.id, attempt: task.attempt },
    );
    return blameChecks(runningCheck.named(outcome), journal.entries);
  };
}
