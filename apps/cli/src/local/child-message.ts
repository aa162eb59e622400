import { z } from 'zod';

/** What a child process tells `up` over its IPC channel: that it serves, or why it can't, in one line. */
export const ChildMessage = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('ready'), url: z.string().optional() }),
  z.strictObject({ type: z.literal('failed'), detail: z.string() }),
]);
export type ChildMessage = z.infer<typeof ChildMessage>;
