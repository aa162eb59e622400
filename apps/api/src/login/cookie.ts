import fastifyCookie from '@fastify/cookie';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { SESSION_MS } from './sessions.ts';

const NAME = 'crewboard_session';

/** Takes in what reads and writes cookies; they can be read once the plugins of `app` are loaded. */
export function prepareCookies(app: FastifyInstance): void {
  // Read where they are needed, also for requests that run no hooks.
  void app.register(fastifyCookie, { hook: false });
}

/** The session's token that a request carries, if any. */
export function sessionToken({ headers, server }: FastifyRequest): string | undefined {
  return headers.cookie === undefined ? undefined : server.parseCookie(headers.cookie)[NAME];
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

/** Keeps a session's token in the browser; without a token, takes it away. */
export function setSessionCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  token: string | undefined,
): FastifyReply {
  return reply.setCookie(NAME, token ?? '', {
    path: '/',
    httpOnly: true,
    sameSite: 'strict',
    secure: isSecure(request),
    maxAge: token === undefined ? 0 : SESSION_MS / 1000,
  });
}
