import { cleanText } from '@crewboard/agent';
import { utf8Bytes } from '@crewboard/contracts';
import { type CommandEnd, endInWords } from '@crewboard/tools';
import { z } from 'zod';
import { tailOf } from '../tail.ts';

/** How a task's command ended, as its journal keeps it. */
export const CommandOutcome = z.strictObject({
  exitCode: z.number().int().nullable(),
  signal: z.string().nullable(),
  timedOut: z.boolean(),
  output: z.string(),
  truncated: z.boolean(),
  durationMs: z.number(),
}) satisfies z.ZodType<CommandEnd>;

const OUTPUT_BYTES = 65_536;
const SUMMARY_BYTES = 1000;
const REASON_BYTES = 1500;

/** The end of `text` that a task's output has room for: what counts there is its size as JSON. */
function fitOutput(text: string): string {
  // A character takes up to six times its size as JSON, so the last step always fits.
  for (const bytes of [OUTPUT_BYTES - 2, OUTPUT_BYTES / 2, OUTPUT_BYTES / 4]) {
    const tail = tailOf(text, bytes);
    if (utf8Bytes(JSON.stringify(tail)) <= OUTPUT_BYTES) return tail;
  }
  return tailOf(text, OUTPUT_BYTES / 8);
}

/** The result of a command that succeeded: what it wrote, and the end of that as summary. */
export function resultOf({ output }: CommandEnd): { summary: string; output: string } {
  const text = cleanText(output).trimEnd();
  if (text === '') return { summary: 'exit code 0, no output', output: '' };
  return { summary: tailOf(text, SUMMARY_BYTES), output: fitOutput(text) };
}

/**
 * Why a command's attempt failed. A wrong exit code is class `check`: the command is its task's own check, and no model
 * or machine is to blame. It is tried again like any other failure.
 */
export function failureOf(end: CommandEnd): { class: 'check' | 'timeout'; reason: string } {
  const text = tailOf(cleanText(end.output).trim(), REASON_BYTES);
  const reason = text === '' ? endInWords(end) : `${endInWords(end)}\n${text}`;
  return { class: end.timedOut ? 'timeout' : 'check', reason };
}
