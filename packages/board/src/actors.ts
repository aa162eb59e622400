import { Actor, type Owner, OwnerKind } from '@crewboard/contracts';

/** Parses "kind:id" of the scripts; the ID may hold colons. */
export function parseOwner(text: string): Owner | undefined {
  const at = text.indexOf(':');
  const kind = OwnerKind.safeParse(text.slice(0, at));
  if (at < 0 || !kind.success) return undefined;
  return { kind: kind.data, id: text.slice(at + 1) };
}

/** Parses "kind:id" of an event's `by`; anything else is the harness. */
export function parseActor(text: string): Actor {
  const at = text.indexOf(':');
  const parsed = Actor.safeParse({ kind: text.slice(0, at), id: text.slice(at + 1) });
  return parsed.success ? parsed.data : { kind: 'harness', id: 'board' };
}
