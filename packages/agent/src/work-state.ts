/** What an agent has in hand: nothing of it may be lost when its conversation is compacted. Texts stand verbatim. */
export interface WorkState {
  /** The task that it works on, as its model reads it. */
  heldTask?: string | undefined;
  /** The items of its checklist that are not completed. */
  unfinishedTodos: readonly string[];
  /** Tasks that are still open: a lead's board. */
  openTasks: readonly string[];
}

function list(heading: string, items: readonly string[]): string[] {
  return items.length === 0 ? [] : [`## ${heading}`, ...items.map((item) => `- ${item}`)];
}

/** The section that every compaction carries, whatever the summary says. */
export function renderWorkState({ heldTask, unfinishedTodos, openTasks }: WorkState): string {
  const held = heldTask === undefined ? [] : ['## Held Task', heldTask];
  const lines = [
    ...held,
    ...list('Unfinished Checklist Items', unfinishedTodos),
    ...list('Open Tasks', openTasks),
  ];
  return lines.length === 0 ? '' : `<state>\n${lines.join('\n')}\n</state>`;
}
