/** What an agent has in hand: nothing of it may be lost when its conversation is compacted. Texts stand verbatim. */
export interface WorkState {
  /** The task that it works on, as its model reads it. */
  heldTask?: string | undefined;
  /** The items of its checklist that are not completed. */
  unfinishedTodos: readonly string[];
  /** Tasks that are still open: a lead's board. */
  openTasks: readonly string[];
  /** What people wrote to it in turns that are left out, oldest first. */
  messages?: readonly string[] | undefined;
}

/** Of people's messages so many characters (UTF-16 code units) are kept at most: whole ones, the newest first. */
const MESSAGES_MOST_CHARS = 64_000;

function newest(messages: readonly string[]): string[] {
  const kept: string[] = [];
  let left = MESSAGES_MOST_CHARS;
  for (const message of messages.toReversed()) {
    left -= message.length;
    // The last word always stands.
    if (left < 0 && kept.length > 0) break;
    kept.push(message);
  }
  return kept.reverse();
}

function messageSection(messages: readonly string[]): string[] {
  const kept = newest(messages);
  if (kept.length === 0) return [];
  const lost = messages.length - kept.length;
  const older = lost === 0 ? [] : [`(${lost} older ones were left out)`];
  return ['## Messages from People', ...older, ...kept];
}

function list(heading: string, items: readonly string[]): string[] {
  return items.length === 0 ? [] : [`## ${heading}`, ...items.map((item) => `- ${item}`)];
}

/** The section that every compaction carries, whatever the summary says. */
export function renderWorkState({ heldTask, unfinishedTodos, openTasks, messages = [] }: WorkState): string {
  const held = heldTask === undefined ? [] : ['## Held Task', heldTask];
  const lines = [
    ...held,
    ...list('Unfinished Checklist Items', unfinishedTodos),
    ...list('Open Tasks', openTasks),
    ...messageSection(messages),
  ];
  return lines.length === 0 ? '' : `<state>\n${lines.join('\n')}\n</state>`;
}
