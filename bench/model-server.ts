import { createServer } from 'node:http';
import { encodeEvent, streamEvents } from '../packages/simulated-model/src/index.ts';

/** A Messages API without any latency, in a process of its own: it calls `look` with a new ID each time. */
const USAGE = {
  input_tokens: 1,
  output_tokens: 1,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
};
let calls = 0;

function nextAnswer(): string {
  const call = ++calls;
  const input = { n: call };
  const content = [
    { type: 'text', text: 'I look.', citations: null },
    { type: 'tool_use', id: `toolu_${call}`, name: 'look', input, caller: { type: 'direct' } },
  ];
  const message = { id: `msg_${call}`, model: 'bench', content, stopReason: 'tool_use', usage: USAGE };
  return streamEvents(message).map(encodeEvent).join('');
}

const server = createServer((request, response) => {
  request.resume().once('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    response.end(nextAnswer());
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address !== 'string') process.send?.(address.port);
});
