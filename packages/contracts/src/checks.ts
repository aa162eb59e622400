import { z } from 'zod';

/** What the check of a task's `outputSchema` is called, beside the IDs of acceptance items. */
export const OUTPUT_SCHEMA_CHECK = 'outputSchema';

/**
 * The data of a `task.checked` event by the harness: the checks that have passed, or the one that failed and why, in
 * one line. When people or the lead reject a review, it is `{decision: "reject", text}` instead.
 */
export const CheckedData = z.union([
  z.strictObject({ passed: z.literal(true), checks: z.array(z.string()) }),
  z.strictObject({ passed: z.literal(false), check: z.string(), reason: z.string() }),
]);
export type CheckedData = z.infer<typeof CheckedData>;
