import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

/** What bubblewrap tells of itself: JSON documents on one pipe, complaints on another. */
export interface SandboxStatus {
  /** The first process of the sandbox, which leads the group of the command; undefined before it is there. */
  firstPid(): number | undefined;
  /** The command's exit code; undefined when it never ran or has not ended. */
  exitCode(): number | undefined;
  /** Why bubblewrap gave up, for people, without a full stop. */
  complaint(): string;
}

const STATUS_CHARS = 10_000;
const COMPLAINT_CHARS = 500;

const GONE_CHECK_MS = 5;
const GONE_CHECKS = 400;

function collect(stream: NodeJS.ReadableStream | null, maxChars: number): () => string {
  let text = '';
  stream?.setEncoding('utf8');
  stream?.on('data', (chunk: string) => {
    text = `${text}${chunk}`.slice(0, maxChars);
  });
  // What was read until then is all there is.
  stream?.on('error', () => {});
  return () => text;
}

function numberAfter(text: string, name: string): number | undefined {
  const found = new RegExp(`"${name}": (\\d+)`).exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** Reads both pipes of a bubblewrap that was just started. */
export function followStatus(
  status: NodeJS.ReadableStream | null,
  complaints: NodeJS.ReadableStream | null,
): SandboxStatus {
  const told = collect(status, STATUS_CHARS);
  const complained = collect(complaints, COMPLAINT_CHARS);
  return {
    firstPid: () => numberAfter(told(), 'child-pid'),
    exitCode: () => numberAfter(told(), 'exit-code'),
    complaint: () => complained().trim().replace(/\.$/, '') || 'it was killed',
  };
}

async function isGone(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => undefined);
  // A zombie: nothing of the sandbox runs any more, only nobody has asked for its end.
  return stat === undefined || stat.slice(stat.lastIndexOf(')')).startsWith(') Z');
}

/** Waits, for two seconds at most, until the first process of a killed sandbox, and so every other, is gone. */
export async function untilGone(pid: number | undefined): Promise<void> {
  if (pid === undefined) return;
  for (let check = 0; check < GONE_CHECKS; check++) {
    if (await isGone(pid)) return;
    await delay(GONE_CHECK_MS);
  }
}
