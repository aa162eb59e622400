import type { PersonRequest } from '@crewboard/board';

/**
 * What of a call over HTTP an Idempotency-Key stands for: its action and all that was sent with it. The same key for
 * anything else on this board is `idempotency_mismatch`. Empty without a key.
 */
export function personRequest(
  idempotencyKey: string | undefined,
  action: string,
  ...sent: readonly unknown[]
): { request?: PersonRequest } {
  if (idempotencyKey === undefined) return {};
  return { request: { key: `http:${idempotencyKey}`, content: JSON.stringify([action, ...sent]) } };
}
