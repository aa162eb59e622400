import { CrewboardError } from '@crewboard/contracts';
import { type Reader, readChunks } from './chunks.ts';
import type { Deadline } from './deadline.ts';

/** No line of the API comes near this; a server that sends a longer one is none of ours. */
const MAX_LINE_CHARS = 4 * 1024 * 1024;

/** Reads UTF-8 lines as they come, by the rules of {@link readChunks}. */
export async function* readLines(
  reader: Reader,
  deadline: Deadline,
  fail: (error: unknown) => unknown,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of readChunks(reader, deadline, fail)) {
    rest += decoder.decode(bytes, { stream: true });
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
    if (rest.length > MAX_LINE_CHARS)
      throw new CrewboardError('unavailable', 'The server sent an endless line.');
  }
  rest += decoder.decode();
  if (rest !== '') yield rest;
}
