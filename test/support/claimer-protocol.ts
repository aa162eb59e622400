import { z } from 'zod';

/** What a holder may be told to do, each a call of the board that carries the claim token. */
export const HOLDER_CALLS = [
  'heartbeat',
  'note',
  'progress',
  'append start',
  'append message',
  'append reply',
  'append tool.started',
  'append tool.result',
  'propose',
  'commit artifact',
  'submit',
  'fail',
  'release',
  'park',
  'block',
] as const;
export const HolderCall = z.enum(HOLDER_CALLS);
export type HolderCall = z.infer<typeof HolderCall>;

const n = z.number().int();
const claimed = { jobId: z.string(), taskId: z.string() };

/** What a claimer process is told over IPC; `n` is the order's own number. */
export const Order = z.discriminatedUnion('do', [
  z.strictObject({ do: z.literal('claim'), n, ...claimed, owner: z.string(), leaseMs: z.number() }),
  z.strictObject({ do: z.literal('call'), n, call: HolderCall }),
  /** Claims again and again until it wins or is told to stop; without a task ID whatever is next. */
  z.strictObject({
    do: z.literal('race'),
    n,
    lane: z.number().int(),
    jobId: z.string(),
    taskId: z.string().optional(),
    kind: z.enum(['sub-agent', 'external']),
  }),
  /** Ends the race `n` after one more try. */
  z.strictObject({ do: z.literal('stop'), n }),
  /** Does one task after the other with all their calls, without being told of each. */
  z.strictObject({
    do: z.literal('work'),
    n,
    jobId: z.string(),
    taskIds: z.array(z.string()),
    leaseMs: z.number(),
  }),
]);
export type Order = z.infer<typeof Order>;

/** How a race ended for one claimer: its token and task if it won, and how often each refusal came before. */
export const RaceResult = z.strictObject({
  won: z.strictObject({ taskId: z.string(), token: z.string() }).optional(),
  refusals: z.record(z.string(), z.number()),
});
export type RaceResult = z.infer<typeof RaceResult>;

/** What a claimer process tells. `outcome` is `ok` or the code of the refusal. */
export const Report = z.discriminatedUnion('is', [
  z.strictObject({ is: z.literal('ready') }),
  z.strictObject({ is: z.literal('done'), n, outcome: z.string() }),
  /** The first refusal of a race. */
  z.strictObject({ is: z.literal('tried'), n }),
  z.strictObject({ is: z.literal('raced'), n, result: RaceResult }),
  /** One call of `work` that Redis has answered. */
  z.strictObject({
    is: z.literal('worked'),
    n,
    taskId: z.string(),
    call: z.union([HolderCall, z.literal('claim')]),
  }),
]);
export type Report = z.infer<typeof Report>;
