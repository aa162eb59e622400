import { cutUtf8 } from '@crewboard/contracts';
import { z } from 'zod';
import {
  type Conversation,
  callsOf,
  type Exchange,
  errorOf,
  type Move,
  parseAs,
  refusalsInARow,
} from './conversation.ts';
import { counted } from './counted.ts';
import { COMBINE_KEY, COMBINE_LABEL, hasGivenTasks, planMove, submitGiven } from './lead-plan.ts';
import {
  type BoardAnswer,
  boardAnswer,
  isStuck,
  type LeadView,
  openTasks,
  readLeadView,
} from './lead-view.ts';

const MAX_REFUSALS = 3;
/** Pages of the board that the lead looks through for tasks that nothing can move. */
const MAX_BOARD_PAGES = 40;
const SUMMARY_BYTES = 2000;

const CombineSeen = z.looseObject({
  task: z.looseObject({
    status: z.string().catch(''),
    failure: z
      .looseObject({ reason: z.string().catch('') })
      .optional()
      .catch(undefined),
    result: z
      .looseObject({
        summary: z.string().catch(''),
        output: z
          .looseObject({
            pages: z.array(z.unknown()).catch([]),
            totals: z.unknown().optional(),
            failed: z.array(z.looseObject({ title: z.string().catch('?') })).catch([]),
          })
          .optional()
          .catch(undefined),
      })
      .optional()
      .catch(undefined),
  }),
});

function call(name: string, input: Record<string, unknown>, say?: string): Move {
  return { calls: [{ name, input }], ...(say === undefined ? {} : { say }) };
}

const lookAtBoard = (say?: string) => call('board_list', { view: 'all' }, say);

/** The lead's next move: look, plan, wait for news, and finish when all is settled. */
export function leadMove(conversation: Conversation): Move {
  const last = conversation.exchanges.at(-1);
  if (last !== undefined && refusalsInARow(conversation) >= MAX_REFUSALS) {
    return { say: `I can't go on: ${errorOf(last).detail}`, calls: [] };
  }
  const view = readLeadView(conversation);
  if (view.files === null && view.canLook) {
    const retried = callsOf(conversation, 'list_files').length > 0;
    return call(
      'list_files',
      { glob: retried ? '**/*.md' : view.glob, limit: 10_000 },
      'Let me look at the workspace.',
    );
  }
  if (view.firstBoard === null) return lookAtBoard('Let me see what is on the board.');
  return planMove(conversation, view) ?? followMove(conversation, view, last);
}

/** What comes after the plan: each answer decides the next call. */
function followMove(conversation: Conversation, view: LeadView, last: Exchange | undefined): Move {
  // Nothing to add, but people approve first.
  if (last?.isError && errorOf(last).code === 'plan_mode') return submitGiven(conversation);
  switch (last?.name) {
    case 'board_wait':
    case 'finish_job':
    case 'board_list':
      return afterBoardAnswer(conversation, view, last);
    case 'board_get':
      return finish(view, last);
    case 'list_files':
      return lookAtBoard();
    default:
      return call('board_wait', {}, 'The plan is on the board; I wait for news.');
  }
}

function afterBoardAnswer(conversation: Conversation, view: LeadView, last: Exchange): Move {
  if (last.isError) return afterRefusal(conversation, last);
  const answer = boardAnswer(last);
  if (last.name === 'board_list' && last.input.label === COMBINE_LABEL) return afterCombineSearch(answer);
  if (last.name === 'board_list' && last.input.cursor !== undefined) return waiveLost(conversation, answer);
  const open = openTasks(answer);
  if (answer === null || open === null)
    return last.name === 'board_list' ? call('board_wait', {}) : lookAtBoard();
  if (open === 0) return collect(view, answer);
  if (isStuck(answer)) return last.name === 'board_list' ? waiveLost(conversation, answer) : lookAtBoard();
  return call('board_wait', {});
}

/** A refused finish is looked into, and given up when no wait has changed anything. */
function afterRefusal({ exchanges }: Conversation, last: Exchange): Move {
  if (last.name !== 'finish_job') return last.name === 'board_list' ? call('board_wait', {}) : lookAtBoard();
  const waited = exchanges.findLastIndex(({ name }) => name === 'board_wait');
  const refused = exchanges.slice(waited + 1).filter(({ name, isError }) => name === 'finish_job' && isError);
  if (refused.length >= MAX_REFUSALS) return { say: `I can't finish: ${errorOf(last).detail}`, calls: [] };
  return lookAtBoard('Not finished yet: I look at the board again.');
}

function collect(view: LeadView, answer: BoardAnswer): Move {
  const combine = view.planned.get(COMBINE_KEY);
  if (combine !== undefined) return call('board_get', { taskId: combine }, 'All tasks are settled.');
  if ((answer.counts?.total ?? 0) === 0) {
    const what = view.canLook ? `no file of the workspace matches ${view.glob}` : 'the job has no workspace';
    return call('finish_job', { summary: `There was nothing to do: ${what}, and the board has no tasks.` });
  }
  if (hasGivenTasks(view)) return finishGiven(answer);
  return call('board_list', { view: 'all', label: COMBINE_LABEL }, 'All tasks are settled.');
}

function afterCombineSearch(answer: BoardAnswer | null): Move {
  const found = answer?.tasks.find(({ key }) => key === COMBINE_KEY);
  if (found !== undefined) return call('board_get', { taskId: found.taskId });
  return answer === null ? call('board_wait', {}) : finishGiven(answer);
}

function finishGiven({ counts }: BoardAnswer): Move {
  const { total = 0, completed = 0, failed = 0, cancelled = 0 } = counts ?? {};
  return call('finish_job', {
    summary: `${completed} of ${counted(total, 'task')} completed, ${failed} failed, ${cancelled} cancelled.`,
    output: { tasks: total, completed, failed, cancelled },
  });
}

/** Goes through the board's pages and gives up every task that waits for one that is lost. */
function waiveLost({ exchanges }: Conversation, answer: BoardAnswer | null): Move {
  const since = exchanges.findLastIndex(({ name }) => name !== 'board_list');
  const pages = exchanges.slice(since + 1);
  if (answer?.nextCursor !== undefined && pages.length < MAX_BOARD_PAGES) {
    return call('board_list', { view: 'all', cursor: answer.nextCursor });
  }
  const lost = pages
    .flatMap((page) => boardAnswer(page)?.tasks ?? [])
    .filter(({ status }) => status === 'pending');
  const waive = [...new Set(lost.map(({ taskId }) => taskId))].slice(0, 1000).map((taskId) => ({
    taskId,
    reason: 'It waits for a task that did not complete.',
  }));
  if (waive.length === 0) return call('board_wait', {});
  const summary = `${counted(waive.length, 'task')} can't be done any more: what had to come first did not complete.`;
  return call('finish_job', { summary, waive });
}

function finish({ unlisted }: LeadView, got: Exchange): Move {
  const task = parseAs(CombineSeen, got.result)?.task;
  const output = got.isError ? undefined : task?.result?.output;
  if (output === undefined) {
    const reason = got.isError
      ? errorOf(got).detail
      : (task?.failure?.reason ?? 'its result could not be read');
    const summary = cutUtf8(
      `All tasks are settled, but their results were not combined: ${reason}`,
      SUMMARY_BYTES,
    );
    return call('finish_job', { summary });
  }
  const { pages, totals, failed } = output;
  const names = failed.map(({ title }) => title).join(', ');
  const lost = failed.length === 0 ? '' : ` ${failed.length} failed: ${names}.`;
  const unseen = unlisted === 0 ? '' : ` Not listed, and so not reviewed: ${counted(unlisted, 'more file')}.`;
  const said =
    `${counted(pages.length, 'page')} reviewed.${unseen}${lost} ${task?.result?.summary ?? ''}`.trim();
  return call('finish_job', { summary: cutUtf8(said, SUMMARY_BYTES), output: { pages, totals } });
}
