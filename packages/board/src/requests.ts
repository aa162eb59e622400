import { contentHash } from './call-name.ts';

/**
 * A person's name for a call (an Idempotency-Key), and what it was sent with. The same again changes nothing and is
 * answered the same; anything else under that name is refused with `idempotency_mismatch`.
 */
export interface PersonRequest {
  key: string;
  content: string;
}

/** Who asks, and under which name the call can be repeated. */
interface Named {
  lead?: { requestId: string } | undefined;
  request?: PersonRequest | undefined;
}

/** The name under which a call's answer is kept; '' when it can't be repeated. The lead's and people's never meet. */
export function nameOf({ lead, request }: Named): string {
  if (lead !== undefined) return lead.requestId === '' ? '' : `lead/${lead.requestId}`;
  return request === undefined ? '' : `person/${request.key}`;
}

/** What must be the same in a repeat: what the person sent, or for the lead the call itself. */
export function hashOf({ lead, request }: Named, call: readonly unknown[]): string {
  return contentHash(lead === undefined && request !== undefined ? request.content : JSON.stringify(call));
}
