import { isUtf8 } from 'node:buffer';

export interface BoundedOutput {
  add(chunk: Buffer): void;
  /** All that came, or its first and last part with a line between them that says how much is left out. */
  take(): { output: string; truncated: boolean };
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** Without the begun character at the end of `bytes`. */
function cutEnd(bytes: Buffer): Buffer {
  // A character has at most four bytes, so anything else here is no UTF-8 and stays.
  for (let cut = 0; cut < 4 && cut < bytes.length; cut++) {
    const end = bytes.length - cut;
    if (isUtf8(bytes.subarray(Math.max(0, end - 4 - cut), end)) && !isContinuation(bytes[end])) {
      return bytes.subarray(0, end);
    }
  }
  return bytes;
}

/** Without the rest of a character at the start of `bytes`. */
function cutStart(bytes: Buffer): Buffer {
  let start = 0;
  while (start < 3 && isContinuation(bytes[start])) start++;
  return bytes.subarray(start);
}

/** Keeps the first and the last half of `maxBytes` of a stream, and never more than twice that in memory. */
export function createBoundedOutput(maxBytes: number): BoundedOutput {
  const half = Math.floor(maxBytes / 2);
  let head = Buffer.alloc(0);
  let tail: Buffer[] = [];
  let tailBytes = 0;
  let leftOut = 0;

  /** Copied, so that the large chunks that they were cut from can go. */
  function compact(): void {
    const all = Buffer.concat(tail, tailBytes);
    const kept = Buffer.from(all.subarray(Math.max(0, tailBytes - half)));
    leftOut += tailBytes - kept.length;
    tail = [kept];
    tailBytes = kept.length;
  }

  return {
    add(chunk) {
      const toHead = chunk.subarray(0, half - head.length);
      if (toHead.length > 0) head = Buffer.concat([head, toHead]);
      const rest = chunk.subarray(toHead.length);
      if (rest.length === 0) return;
      tail.push(rest);
      tailBytes += rest.length;
      if (tailBytes > 2 * half) compact();
    },
    take() {
      compact();
      const end = tail[0] ?? Buffer.alloc(0);
      if (leftOut === 0) return { output: Buffer.concat([head, end]).toString('utf8'), truncated: false };
      const first = cutEnd(head);
      const last = cutStart(end);
      const missing = leftOut + (head.length - first.length) + (end.length - last.length);
      const line = `\n[${missing.toLocaleString('en-US')} bytes of output left out here]\n`;
      return { output: `${first.toString('utf8')}${line}${last.toString('utf8')}`, truncated: true };
    },
  };
}
