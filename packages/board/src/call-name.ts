import { createHash } from 'node:crypto';

/** What a holder does, in the one letter that the board keeps of it. */
const ACTIONS = {
  note: 'n',
  progress: 'p',
  submit: 's',
  block: 'b',
  fail: 'f',
  release: 'r',
  park: 'k',
  wait: 'w',
  finish: 'e',
  artifact: 'a',
  checked: 'c',
  ask: 'q',
  plan: 'l',
} as const;
export type HolderAction = keyof typeof ACTIONS;

/**
 * A holder's own name for a call: its request ID. Repeated for the same action it changes nothing; for another one it
 * is refused. With `content`, what was sent, other content under the same ID is refused, too. '': the call can't be
 * repeated safely.
 */
export type CallName = string | { requestId: string; content: string };

/** Characters of a content's hash that are kept, of six bits each: enough to tell a mistake, for a task has few calls. */
const HASH_KEPT = 6;

/** The hash of what a call was sent with, to tell a repeat from another call of the same name. */
export function contentHash(content: string): string {
  return createHash('sha256').update(content).digest('base64');
}

/** A call's name as the scripts compare and keep it (lua/lib/holder.lua): request ID, NUL, action, hash of the content. */
export function storedName(name: CallName, action: HolderAction): string {
  const { requestId, content } = typeof name === 'string' ? { requestId: name, content: undefined } : name;
  if (requestId === '') return '';
  const hash = content === undefined ? '' : contentHash(content).slice(0, HASH_KEPT);
  return `${requestId}\u0000${ACTIONS[action]}${hash}`;
}
