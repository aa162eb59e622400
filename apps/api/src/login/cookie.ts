import { fastifyCookie } from '@fastify/cookie';
import type { FastifyRequest } from 'fastify';
import { SESSION_MS } from './sessions.ts';

const NAME = 'crewboard_session';

/** The session's token that a request carries, if any. */
export function sessionToken({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined {
  return headers.cookie === undefined ? undefined : fastifyCookie.parse(headers.cookie)[NAME];
}

/** True when the browser speaks https with us, or with the proxy before us. */
function isSecure({ headers, protocol }: FastifyRequest): boolean {
  // Whoever lies here marks a cookie of his own only.
  return (
    protocol === 'https' ||
    headers['x-forwarded-proto'] === 'https' ||
    headers.origin?.startsWith('https:') === true
  );
}

/** The `Set-Cookie` that keeps a session's token in the browser; without a token the one that takes it away. */
export function sessionCookie(request: FastifyRequest, token: string | undefined): string {
  return fastifyCookie.serialize(NAME, token ?? '', {
    path: '/',
    httpOnly: true,
    sameSite: 'strict',
    secure: isSecure(request),
    maxAge: token === undefined ? 0 : SESSION_MS / 1000,
  });
}
