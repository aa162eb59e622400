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

/** The headers by which a browser says where a request comes from. */
interface SiteHeaders {
  host?: string | undefined;
  origin?: string | undefined;
  'sec-fetch-site'?: string | string[] | undefined;
}

/** True when `origin` is the host that was asked. */
function isOwnOrigin(origin: string, host: string): boolean {
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  return url !== undefined && url.host !== '' && hostUrl(url.protocol, host)?.host === url.host;
}

/**
 * Refuses, with `forbidden`, what a page of another site makes a browser send: a `Host` that is not this
 * machine while we are bound to loopback (DNS rebinding), and an `Origin` other than the host asked, unless it is one of
 * `origins`.
 */
export function refuseForeignSite(
  headers: SiteHeaders,
  { boundToLoopback, origins }: { boundToLoopback: boolean; origins: readonly string[] },
): void {
  const host = headers.host ?? '';
  const hostname = hostUrl('http:', host)?.hostname;
  if (boundToLoopback && (hostname === undefined || !isLoopback(hostname))) {
    throw new CrewboardError(
      'forbidden',
      'This server answers only as localhost, 127.0.0.1 or [::1]: use one of these in the URL.',
      { next: { call: 'again', with: 'localhost as its host' } },
    );
  }
  const { origin } = headers;
  if (origin === undefined || origins.includes(origin) || isOwnOrigin(origin, host)) return;
  throw new CrewboardError(
    'forbidden',
    'A page of another origin may not use this server, unless CREWBOARD_CORS_ORIGINS lists the origin.',
    { next: { call: 'again', with: 'no Origin, or one that is listed' } },
  );
}

/**
 * Refuses, with `forbidden`, a change that a browser sends with its cookie from anywhere but a page of this server:
 * cookies go along by themselves, keys do not. A browser says where it comes from; what says nothing is refused.
 */
export function refuseForgedChange(method: string, headers: SiteHeaders): void {
  if (['GET', 'HEAD', 'OPTIONS'].includes(method)) return;
  const { origin, host = '' } = headers;
  const isOwn =
    origin === undefined ? headers['sec-fetch-site'] === 'same-origin' : isOwnOrigin(origin, host);
  if (isOwn) return;
  throw new CrewboardError(
    'forbidden',
    'A login in a browser changes things from pages of this server only: send a key as "Authorization: Bearer <key>" instead.',
    { next: { call: 'again', with: '"Authorization: Bearer <key>"' } },
  );
}

/** Refuses, with `forbidden`, a form that a page of another site sends here: it would log the person in as somebody else. */
export function refuseForeignForm(headers: SiteHeaders): void {
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin' || site === 'none') return;
  throw new CrewboardError('forbidden', 'A page of another site may not log in here: open /login yourself.', {
    next: 'GET /login',
  });
}
