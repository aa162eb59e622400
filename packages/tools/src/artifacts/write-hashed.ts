import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { CrewboardError } from '@crewboard/contracts';
import type { StoredContent } from './store.ts';

/** What is hashed at once: a large content lets other work run in between. */
const SLICE_BYTES = 1024 * 1024;

async function* slicesOf(content: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < content.length; at += SLICE_BYTES) yield content.subarray(at, at + SLICE_BYTES);
}

/**
 * Writes `content` to an open file, durably, and answers its hash. Throws `payload_too_large` above `bytesMost`, as
 * soon as that shows, and the signal's reason.
 */
export async function writeHashed(
  handle: FileHandle,
  content: Uint8Array | AsyncIterable<Uint8Array>,
  bytesMost: number,
  signal: AbortSignal,
): Promise<StoredContent> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const slice of content instanceof Uint8Array ? slicesOf(content) : content) {
    signal.throwIfAborted();
    bytes += slice.length;
    if (bytes > bytesMost) {
      throw new CrewboardError(
        'payload_too_large',
        `an artifact has at most ${bytesMost} bytes. Nothing was stored. Write it in several files.`,
        { limitBytes: bytesMost },
      );
    }
    hash.update(slice);
    await handle.writeFile(slice);
  }
  await handle.sync();
  return { sha256: hash.digest('hex'), bytes };
}
