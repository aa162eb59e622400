import type { Deadline } from './deadline.ts';

export interface Reader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

/**
 * Reads bytes as they come. `deadline` runs only while we wait for the server. An error of the connection is thrown as
 * `fail` returns it. The connection ends with the iteration, whoever ends that.
 */
export async function* readChunks(
  reader: Reader | undefined,
  deadline: Deadline,
  fail: (error: unknown) => unknown,
): AsyncGenerator<Uint8Array> {
  try {
    while (reader !== undefined) {
      deadline.renew();
      const { done, value } = await reader.read();
      deadline.pause();
      if (done) return;
      if (value !== undefined) yield value;
    }
  } catch (error) {
    throw fail(error);
  } finally {
    deadline.end();
    // Also closes the connection of a consumer that left early; there may be none any more.
    await reader?.cancel().catch(() => {});
  }
}
