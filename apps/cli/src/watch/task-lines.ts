import { padColumns, shownLine, type Task, textColumns } from '@crewboard/contracts';
import { ago } from './ago.ts';

const TITLE_SHARE = 0.4;

/** What a running task's holder does, or why another one stands still. */
function taskState(task: Task, nowMs: number): string {
  const { status, owner, block, failure, progress } = task;
  if (status === 'failed' && failure !== undefined) return `failed (${failure.class}): ${failure.reason}`;
  if (status === 'blocked' && block !== undefined)
    return `blocked (${block.kind}): ${block.question ?? block.reason}`;
  if (status !== 'in_progress') return status.replace('_', ' ');
  const since = task.startedAt === undefined ? [] : [ago(task.startedAt, nowMs)];
  const doing = progress === undefined ? [] : [progress];
  return [`${owner?.kind ?? ''} ${owner?.id ?? ''}`.trim(), ...since, ...doing].join(', ');
}

/**
 * Tasks with their numbers, titles, holders and failures, in lines of at most `columns`; nothing of what agents wrote
 * becomes an escape sequence.
 */
export function taskLines(tasks: readonly Task[], nowMs: number, columns: number): string[] {
  const numberColumns = Math.max(0, ...tasks.map(({ number }) => `#${number}`.length));
  const titles = tasks.map(({ title }) => shownLine(title, Math.floor(columns * TITLE_SHARE)));
  const titleColumns = Math.max(0, ...titles.map(textColumns));
  return tasks.map((task, at) => {
    const number = `#${task.number}`.padStart(numberColumns);
    const state = shownLine(taskState(task, nowMs), columns - numberColumns - titleColumns - 5);
    return `  ${number} ${padColumns(titles[at] ?? '', titleColumns)}  ${state}`;
  });
}
