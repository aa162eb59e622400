import {
  AcceptanceItem,
  Actor,
  BlockKind,
  Command,
  type Dependency,
  Evidence,
  type JobStatus,
  type JsonValue,
  type PaidUsage,
  TaskFailure,
  TaskLimits,
  type Usage,
} from '@crewboard/contracts';
import { z } from 'zod';

/**
 * What the scripts store, and what it means for readers; rows.ts reads it. Codes follow lua/lib/core.lua.
 */

/** The hot state of a task. */
export interface HotTask {
  version: number;
  code: number;
  number: number;
  priority: number;
  executor: number;
  policy: number;
  attempt: number;
  owner: string;
  failures: number;
  maxAttempts: number;
  strikes: number;
  notBefore: number;
  hold: string;
  updatedAt: number;
  startedAt: number;
  endedAt: number;
  fresh: number;
  onLost: number;
  createdAt: number;
}

/** Short texts of a task, read by lists; `v` is the format. */
export const Head = z.object({
  v: z.literal(1),
  key: z.string().optional(),
  title: z.string(),
  labels: z.array(z.string()),
  acceptance: z.array(AcceptanceItem),
  model: z.string().optional(),
  limits: TaskLimits.optional(),
  parent: z.string().optional(),
  replaces: z.string().optional(),
  command: Command.optional(),
  createdBy: z.object({ kind: Actor.shape.kind, id: z.string() }),
});
export type Head = z.infer<typeof Head>;

/** What JSON.parse gave: JSON by construction, so it is not walked again. */
const ParsedJson = z.custom<JsonValue>();

/** Long texts of a task, read only when one task is. */
export const Body = z.object({
  instructions: z.string().optional(),
  input: ParsedJson.optional(),
  outputSchema: z.record(z.string(), ParsedJson).optional(),
});
export type Body = z.infer<typeof Body>;

export const Outcome = z.object({
  summary: z.string().optional(),
  artifacts: z.array(z.string()).optional(),
  failure: TaskFailure.optional(),
  block: z.object({ kind: BlockKind, reason: z.string(), question: z.string().optional() }).optional(),
});
export type Outcome = z.infer<typeof Outcome>;

export const Output = z.object({ output: ParsedJson.optional(), evidence: z.array(Evidence).optional() });
export type Output = z.infer<typeof Output>;

/** A task's row as lua/lib/rows.lua makes it. */
export interface TaskRow {
  id: string;
  hot: HotTask;
  head: Head;
  outcome: Outcome | undefined;
  body: Body | undefined;
  output: Output | undefined;
  dependsOn: Dependency[];
  /** Dependencies that stand in the way of a pending task. */
  open: string[];
  leaseUntil: number | undefined;
  usage: PaidUsage;
  progress: string | undefined;
}

/** Parses a usage list of Redis; an empty one is no usage. */
export function parseUsage(list: readonly number[]): Usage {
  return {
    modelCalls: list[0] ?? 0,
    inputTokens: list[1] ?? 0,
    outputTokens: list[2] ?? 0,
    cacheReadTokens: list[3] ?? 0,
    cacheWriteTokens: list[4] ?? 0,
  };
}

/** Parses a string of fixed-width edges: a task ID and `c` or `s`. */
export function parseDependencies(text: string): Dependency[] {
  const edges: Dependency[] = [];
  for (let at = 0; at + 11 <= text.length; at += 11) {
    edges.push({ task: text.slice(at, at + 10), condition: text[at + 10] === 's' ? 'settled' : 'completed' });
  }
  return edges;
}

/** The board record. */
export interface BoardRecord {
  version: number;
  status: JobStatus;
  lead: string | undefined;
  lastNumber: number;
  /** False: one task at a time. */
  allowsParallel: boolean;
  cancelling: boolean;
  createdAt: number;
  startedAt: number;
  endedAt: number;
  graph: string;
  budgetNanoUsd: number;
  budgetTokens: number;
  /** As in lua/lib/core.lua. */
  onLimit: number;
  news: string;
  cursor: string;
  pauses: string[];
  reason: string;
  isFilled: boolean;
  /** Plan mode: without or over, the lead plans, a plan waits for people. */
  plan: 'none' | 'planning' | 'proposed';
  /** Questions of the lead that nobody has answered. */
  questions: number;
  /** Tasks of a code, and of some codes. */
  count: (code: number) => number;
  sum: (codes: readonly number[]) => number;
}
