import { openCalls } from '@crewboard/agent';
import type { Boards, Hold } from '@crewboard/board';
import { unfinishedWork } from '@crewboard/checklist';
import type { Actor, JournalEntry } from '@crewboard/contracts';
import { activeMs } from '../active-time.ts';
import { wholeKeeper } from '../artifacts/agent-artifacts.ts';
import type { RunAgentOnce, RunningAttempt } from '../attempt.ts';
import { createCallBudget } from '../call-budget.ts';
import { guardedTools } from '../guarded-tools.ts';
import type { JobFacts } from '../job-facts.ts';
import { earlierMessages, messagesBefore, openMailbox } from '../messages/mailbox.ts';
import { pricesOf } from '../prices.ts';
import { limitsFor, parkAskedBy, runLogged } from '../run-agent-for.ts';
import type { AgentDependencies } from '../sub-agent/run-sub-agent.ts';
import { createDeliveries, type Deliveries } from './deliveries.ts';
import { isEmptyInbox, readInbox } from './inbox.ts';
import { leadTools } from './lead-tools.ts';
import { openTaskLines } from './open-tasks.ts';
import { decisionText } from './people-tools.ts';
import { LEAD_SYSTEM, leadOpening, newsMessage } from './prompt.ts';
import { waitForNews } from './stall.ts';

/** What the lead is told when it goes on: what it waited for answers its call, or the news stands in a message. */
async function newsFor(
  boards: Boards,
  hold: Hold,
  attempt: number,
  entries: readonly JournalEntry[],
  deliveries: Deliveries,
) {
  if (entries.length === 0) return {};
  const [last] = await boards.attempts(hold.jobId, hold.taskId, attempt - 1, 1);
  const open = last?.outcome === 'parked' ? openCalls(entries).map(({ name }) => name) : [];
  if (open.includes('submit_plan')) return { endedCallAnswer: await decisionText(boards, hold.jobId) };
  const inbox = await readInbox(boards, hold.jobId, hold.taskId);
  if (open.length > 0) return { endedCallAnswer: deliveries.carry(inbox) };
  if (isEmptyInbox(inbox)) return {};
  return { continuation: [deliveries.carry(inbox, newsMessage(inbox))] };
}

/** Prepares a run of the lead: from a wake to its next wait, or to the end of the job. */
export async function prepareLead(
  dependencies: AgentDependencies,
  { spec }: JobFacts,
  { hold, claimed, lease }: RunningAttempt,
): Promise<RunAgentOnce> {
  const { boards, artifacts, settings, log, callModel } = dependencies;
  const { attempt } = claimed.task;
  const by: Actor = { kind: 'lead', id: claimed.task.owner?.id ?? 'lead' };
  const deliveries = createDeliveries();
  const mailbox = openMailbox(boards, hold, attempt);
  const { cursorFor } = deliveries;
  const journal = await boards.openJournal(hold, { attempt, cursorFor, messagesFor: mailbox.messagesFor });
  const wait = (requestId: string) => waitForNews(boards, hold, requestId, journal, attempt);
  const tools = await leadTools(dependencies, { spec, hold, by, journal, deliveries, wait });
  const news = await newsFor(boards, hold, attempt, journal.entries, deliveries);
  const earlier = await boards.attempts(hold.jobId, hold.taskId, attempt - 1);
  const { counts, plan } = await boards.job(hold.jobId);
  const begun = journal.entries.some((entry) => entry.kind === 'start' && entry.attempt === attempt);
  const fresh = claimed.fresh && !begun;
  return (signal) =>
    runLogged(
      {
        model: spec.models.lead,
        system: LEAD_SYSTEM,
        tools: guardedTools(tools, hold, async () => {}),
        journal,
        callModel,
        budget: createCallBudget({ boards, prices: pricesOf(spec.provider, settings.prices), log }, hold),
        opening: [leadOpening(spec, counts.total), ...(fresh ? earlierMessages(journal.entries) : [])],
        fresh,
        attempt,
        ...news,
        notices: () => mailbox.notices(journal),
        // A turn without a call is a wait as long as there is something to wait for.
        async plainEnding() {
          const answer = await wait(`plain/${journal.entries.length}`);
          return answer.kind === 'end' ? answer.end : undefined;
        },
        // It changes only while the lead is parked, so it holds for the whole run.
        ...(plan === 'none' ? {} : { planMode: { allows: ['submit_plan'] } }),
        workState: async (keepFrom) => ({
          unfinishedTodos: unfinishedWork(journal.entries),
          messages: messagesBefore(journal.entries, keepFrom),
          openTasks: await openTaskLines(boards, hold.jobId),
        }),
        keepWhole: wholeKeeper({ boards, artifacts }, hold),
        limits: limitsFor(spec, {}, settings, activeMs(earlier)),
        parkAsked: parkAskedBy(lease),
        signal,
      },
      log,
      { jobId: hold.jobId, lead: true, attempt },
    );
}
