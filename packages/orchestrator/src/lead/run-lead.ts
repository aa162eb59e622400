import type { Boards, Hold } from '@crewboard/board';
import type { Actor, JournalEntry, Tool } from '@crewboard/contracts';
import { createReadArtifactTool } from '@crewboard/tools';
import { activeMs } from '../active-time.ts';
import { ALL_ARTIFACTS, agentArtifacts, wholeKeeper } from '../artifacts/agent-artifacts.ts';
import type { RunAgentOnce, RunningAttempt } from '../attempt.ts';
import { createBoardGetTool, createBoardListTool } from '../board-tools.ts';
import { leadCheckRules } from '../checks/check-rules.ts';
import { leadCommandRules } from '../command-tasks.ts';
import { guardedTools } from '../guarded-tools.ts';
import type { JobFacts } from '../job-facts.ts';
import { limitsFor, parkAskedBy, runLogged } from '../run-agent-for.ts';
import type { AgentDependencies } from '../sub-agent/run-sub-agent.ts';
import { createDeliveries, type Deliveries } from './deliveries.ts';
import { createBoardWaitTool, createFinishJobTool } from './end-tools.ts';
import { inboxText, readInbox } from './inbox.ts';
import { openTaskLines } from './open-tasks.ts';
import { createBoardPlanTool } from './plan-tool.ts';
import { LEAD_SYSTEM, leadOpening, newsMessage } from './prompt.ts';
import { createBoardResolveTool } from './resolve-tool.ts';

/** The tool calls of the last reply that no result answers yet. */
function unanswered(entries: readonly JournalEntry[]): boolean {
  const last = entries.findLastIndex((entry) => entry.kind === 'reply');
  const reply = entries[last];
  if (reply?.kind !== 'reply') return false;
  const calls = reply.content.filter((block) => block.type === 'tool_use').length;
  return calls > entries.slice(last).filter((entry) => entry.kind === 'tool.result').length;
}

/** What the lead is told when it goes on: its wait is answered, or the news stands in a message. */
async function newsFor(
  boards: Boards,
  hold: Hold,
  attempt: number,
  entries: readonly JournalEntry[],
  deliveries: Deliveries,
) {
  if (entries.length === 0) return {};
  const [last] = await boards.attempts(hold.jobId, hold.taskId, attempt - 1, 1);
  const inbox = await readInbox(boards, hold.jobId, hold.taskId);
  if (last?.outcome === 'parked' && unanswered(entries)) return { endedCallAnswer: deliveries.carry(inbox) };
  if (inbox.news.length === 0) return {};
  return { continuation: [deliveries.carry(inbox, newsMessage(inboxText(inbox)))] };
}

/** Prepares a run of the lead: from a wake to its next wait, or to the end of the job. */
export async function prepareLead(
  { boards, artifacts, settings, log, callModel, workTools, checks, schemas }: AgentDependencies,
  { spec }: JobFacts,
  { hold, claimed, lease }: RunningAttempt,
): Promise<RunAgentOnce> {
  const { task } = claimed;
  const deliveries = createDeliveries();
  const by: Actor = { kind: 'lead', id: task.owner?.id ?? 'lead' };
  const tools: Tool[] = [
    // A lead looks; what is to be changed or run is a task's.
    ...(await workTools.toolsOf(spec)).filter((tool) => tool.readOnly),
    createBoardPlanTool(
      boards,
      hold,
      by,
      leadCommandRules(boards, spec, settings.commands),
      leadCheckRules(boards, spec, settings.commands, schemas),
    ),
    createBoardResolveTool(boards, hold, by),
    createBoardListTool(boards, hold.jobId),
    createBoardGetTool(boards, hold.jobId),
    createReadArtifactTool(agentArtifacts({ boards, artifacts }, hold), ALL_ARTIFACTS),
    createBoardWaitTool(boards, hold, deliveries),
    createFinishJobTool(boards, hold, deliveries, (output) => checks.refuseUnfitOutput(spec, output)),
  ];
  const journal = await boards.openJournal(hold, { attempt: task.attempt, cursorFor: deliveries.cursorFor });
  const news = await newsFor(boards, hold, task.attempt, journal.entries, deliveries);
  const earlier = await boards.attempts(hold.jobId, hold.taskId, task.attempt - 1);
  const { counts } = await boards.job(hold.jobId);
  return (signal) =>
    runLogged(
      {
        model: spec.models.lead,
        system: LEAD_SYSTEM,
        tools: guardedTools(tools, hold, async () => {}),
        journal,
        callModel,
        opening: [leadOpening(spec, counts.total)],
        fresh: claimed.fresh,
        attempt: task.attempt,
        ...news,
        // A turn without a call is a wait as long as there is something to wait for.
        async plainEnding() {
          const answer = await boards.waitForNews(hold, `plain/${journal.entries.length}`);
          return answer === 'parked' ? { kind: 'parked', reason: 'waits for news' } : undefined;
        },
        workState: async () => ({
          unfinishedTodos: [],
          openTasks: await openTaskLines(boards, hold.jobId),
        }),
        keepWhole: wholeKeeper({ boards, artifacts }, hold),
        limits: limitsFor(spec, {}, settings, activeMs(earlier)),
        parkAsked: parkAskedBy(lease),
        signal,
      },
      log,
      { jobId: hold.jobId, lead: true, attempt: task.attempt },
    );
}
