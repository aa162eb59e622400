/** One server-sent event. */
export interface SseMessage {
  event: string;
  data: string;
  id?: string;
}

/**
 * Turns the lines of an event stream into messages; comments are left out, and so is a message that was cut before its
 * end. One without data has an ID: the place up to which the server has looked.
 */
export async function* readMessages(lines: AsyncIterable<string>): AsyncGenerator<SseMessage> {
  let message: SseMessage = { event: 'message', data: '' };
  for await (const raw of lines) {
    const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
    if (line === '') {
      if (message.data !== '' || message.id !== undefined) yield message;
      message = { event: 'message', data: '' };
      continue;
    }
    const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === 'event') message.event = value;
    if (field === 'id') message.id = value;
    if (field === 'data') message.data += message.data === '' ? value : `\n${value}`;
  }
}
