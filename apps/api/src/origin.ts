import { CrewboardError } from '@crewboard/contracts';

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i;

/** True for a host that only this machine can reach: `localhost`, 127.0.0.0/8, `::1`. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}

/** Returns the URL of `scheme` at a `Host` header's value, or `undefined` when that is more or less than a host. */
function hostUrl(scheme: string, host: string): URL | undefined {
  if (!/^[\w.:[\]-]+$/.test(host) || !URL.canParse(`${scheme}//${host}`)) return undefined;
  return new URL(`${scheme}//${host}`);
}

/**
 * Refuses, with `forbidden`, what a page of another site makes a browser send: a `Host` that is not this
 * machine while we are bound to loopback (DNS rebinding), and an `Origin` other than the host asked.
 */
export function refuseForeignSite(
  headers: { host?: string | undefined; origin?: string | undefined },
  boundToLoopback: boolean,
): void {
  const host = headers.host ?? '';
  const hostname = hostUrl('http:', host)?.hostname;
  if (boundToLoopback && (hostname === undefined || !isLoopback(hostname))) {
    throw new CrewboardError(
      'forbidden',
      'This server answers only as localhost, 127.0.0.1 or [::1]: use one of these in the URL.',
    );
  }
  if (headers.origin === undefined) return;
  const origin = URL.canParse(headers.origin) ? new URL(headers.origin) : undefined;
  if (origin === undefined || origin.host === '' || hostUrl(origin.protocol, host)?.host !== origin.host) {
    throw new CrewboardError('forbidden', 'A page of another origin may not use this server.');
  }
}
