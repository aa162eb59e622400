import { ownTask } from '../../regression/support.ts';
import {
  type MessagesRequest,
  reply,
  type ScriptedReply,
  toolUse,
} from '../../support/scripted-messages-api.ts';

/** A reply that submits; `number` makes the call's ID unique in its conversation. */
export function submits(request: MessagesRequest, number: number, fields: object = {}): ScriptedReply {
  const input = { taskId: ownTask(request), summary: `version ${number}`, ...fields };
  return reply([toolUse('board_submit', input, `toolu_submit_${number}`)]);
}

/** A reply that gives up. */
export function givesUp(request: MessagesRequest, number: number): ScriptedReply {
  const input = { taskId: ownTask(request), reason: 'it can not be done' };
  return reply([toolUse('board_fail', input, `toolu_fail_${number}`)]);
}
