import { CrewboardError } from '@crewboard/contracts';
import type { Deadline } from './deadline.ts';

/** No line of the API comes near this; a server that sends a longer one is none of ours. */
const MAX_LINE_CHARS = 4 * 1024 * 1024;

interface Reader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

/**
 * Reads UTF-8 lines as they come. `deadline` runs only while we wait for the server. An error of the connection
 * is thrown as `fail` returns it. The connection ends with the iteration, whoever ends that.
 */
export async function* readLines(
  reader: Reader,
  deadline: Deadline,
  fail: (error: unknown) => unknown,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      deadline.renew();
      const { done, value } = await reader.read();
      deadline.pause();
      rest += decoder.decode(value, { stream: !done });
      const lines = rest.split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
      if (rest.length > MAX_LINE_CHARS)
        throw new CrewboardError('unavailable', 'The server sent an endless line.');
      if (!done) continue;
      if (rest !== '') yield rest;
      return;
    }
  } catch (error) {
    throw fail(error);
  } finally {
    deadline.end();
    // Also closes the connection of a consumer that left early; there may be none any more.
    await reader.cancel().catch(() => {});
  }
}
