import type { Task } from '@crewboard/contracts';
import { allText, lastResults, type MessagesRequest, type ScriptedReply } from '../../support/scripted-messages-api.ts';
import { reply, toolUse } from '../../support/scripted-messages-api.ts';
import { ownTask } from '../../regression/support.ts';

/** A reply that submits; `number` makes the call's ID unique in its conversation. */
export function submits(request: MessagesRequest, number: number, fields: object = {}): ScriptedReply {
  const input = { taskId: ownTask(request), summary: `version ${number}`, ...fields };
  return reply([toolUse('board_submit', input, `toolu_submit_${number}`)]);
}

/** A reply that gives up. */
export function givesUp(request: MessagesRequest, number: number, reason = 'it can not be done'): ScriptedReply {
  return reply([toolUse('board_fail', { taskId: ownTask(request), reason }, `toolu_fail_${number}`)]);
}
