/** The fixed set of keys of a board; journals stand apart, one a task. */
export const BOARD_KEYS = [
  'hot',
  'head',
  'body',
  'outcome',
  'output',
  'index',
  'window',
  'lease',
  'due',
  'deps',
  'edges',
  'unmet',
  'replaces',
  'slices',
  'keys',
  'order',
  'attempts',
  'repeats',
  'usage',
  'progress',
  'job',
  'events',
  'outbox',
  'runners',
  'artifacts',
  'rate',
  'messages',
  'spend',
  'journals',
  'reruns',
] as const;

export type BoardKey = (typeof BOARD_KEYS)[number];

/** Names every key below one prefix such as `{crewboard}`; a board's keys share the slot of its job ID. */
export interface Keyspace {
  /** The prefix itself, which BullMQ uses as it is. */
  prefix: string;
  board(jobId: string, key: BoardKey): string;
  journal(jobId: string, taskId: string): string;
  /** A key outside boards: indexes of jobs, idempotency keys. All share one slot. */
  global(name: string): string;
}

/** Returns the keyspace of `prefix`, a name in braces. */
export function keyspace(prefix: string): Keyspace {
  const name = prefix.slice(1, -1);
  return {
    prefix,
    board: (jobId, key) => `${name}:{${jobId}}:${key}`,
    journal: (jobId, taskId) => `${name}:{${jobId}}:journal:${taskId}`,
    global: (key) => `${prefix}:${key}`,
  };
}
