import { allText, type MessagesRequest, offersTool } from '../../support/scripted-messages-api.ts';

/** The ID of the task that a sub-agent's request is about. */
export function taskIdIn(request: MessagesRequest): string {
  const [, id] = /"(?:taskId|id)":\s*"(t_[^"]+)"/.exec(allText(request)) ?? [];
  if (id === undefined) throw new Error('the request names no task');
  return id;
}

/** What a script needs to tell of a request: who asks, and its last answers. */
export function isLead(request: MessagesRequest): boolean {
  return offersTool(request, 'finish_job');
}
