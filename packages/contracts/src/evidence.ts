import { z } from 'zod';
import { boundedText, isBlank } from './text.ts';

export const Evidence = z.strictObject({
  acceptanceId: z.string().max(40).optional(),
  kind: z.enum(['statement', 'artifact', 'check']),
  text: boundedText(4096).optional(),
  ref: boundedText(512).optional(),
  /** Of kind `check`, which the harness alone adds. */
  passed: z.boolean().optional(),
});
export type Evidence = z.infer<typeof Evidence>;

/** Evidence as whoever submits gives it; what the checks have found only the harness adds. */
export const GivenEvidence = Evidence.omit({ passed: true })
  .extend({
    kind: z.enum(
      ['statement', 'artifact'],
      'must be "statement" or "artifact": "check" is what the harness adds when it has run a check',
    ),
  })
  .refine(({ kind, text = '' }) => kind !== 'statement' || !isBlank(text), {
    path: ['text'],
    message: 'must say what shows that it holds: a statement without a text is none',
  })
  .refine(({ kind, ref = '' }) => kind !== 'artifact' || !isBlank(ref), {
    path: ['ref'],
    message: 'must name the artifact',
  });
export type GivenEvidence = z.infer<typeof GivenEvidence>;
