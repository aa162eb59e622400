import {
  encodeEvent,
  type LoopbackServer,
  MessagesRequest,
  type ReplyMessage,
  readBody,
  serveLoopback,
  streamEvents,
} from '../../packages/simulated-model/src/index.ts';
import { isLead } from '../e2e/support/conversation.ts';
import { ownTask } from '../regression/support.ts';
import { allText, toolUse } from '../support/scripted-messages-api.ts';

const USAGE = {
  input_tokens: 100,
  output_tokens: 20,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
};

/** A lead waits until all is settled and finishes; a sub-agent submits at once. */
function callOf(request: MessagesRequest) {
  if (!isLead(request))
    return toolUse('board_submit', { taskId: ownTask(request), summary: 'Done, as was asked.' });
  return allText(request).includes('"allSettled":true')
    ? toolUse('finish_job', { summary: 'All tasks are done.' })
    : toolUse('board_wait');
}

/** A Messages API without latency that remembers nothing: it may run for hours. */
export function startForgetfulModel(): Promise<LoopbackServer> {
  let calls = 0;
  return serveLoopback(async (incoming, response) => {
    const body = await readBody(incoming);
    const request = MessagesRequest.parse(JSON.parse(String(body)));
    const reply: ReplyMessage = {
      id: `msg_${++calls}`,
      model: request.model,
      content: [callOf(request)],
      stopReason: 'tool_use',
      usage: USAGE,
    };
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    response.end(streamEvents(reply).map(encodeEvent).join(''));
  });
}
