const HERE = 'http://here.invalid';

/** Where to go without another place, and when that which was named is none of this server. */
export const AFTER_LOGIN = '/login';

/**
 * Returns `wanted` when it is a path of this server, with its query; else the page that says who is logged in. What a
 * browser would read as another host (`//evil.example`, `/\evil.example`, a tab within) is never returned.
 */
export function nextPath(wanted: string | undefined): string {
  if (wanted === undefined || !/^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(wanted)) return AFTER_LOGIN;
  if (!URL.canParse(wanted, HERE)) return AFTER_LOGIN;
  const { origin, pathname, search } = new URL(wanted, HERE);
  // Dots may have been resolved to a path that begins with two slashes.
  return origin === HERE && !pathname.startsWith('//') ? `${pathname}${search}` : AFTER_LOGIN;
}
