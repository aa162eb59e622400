import { CrewboardError } from '@crewboard/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Access, mayUse, neededFor } from './access.ts';
import { type Authenticate, presentedKey } from './auth.ts';
import { refuseForeignSite } from './origin.ts';
import { sendProblem } from './problem.ts';

export interface GuardOptions {
  authenticate: Authenticate;
  /** Whether the server listens on loopback only: then its `Host` must be this machine. */
  boundToLoopback: boolean;
}

const LOGIN_PAGE = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Crewboard: key needed</title></head>
<body><h1>A key is needed here</h1>
<p>Reload this page and give any user name, with your Crewboard admin key as the password.</p>
<p>The key is the value of CREWBOARD_API_KEY; "crewboard up" makes one and keeps it in its data folder.</p></body></html>
`;

/** A browser can be asked for a key below /admin only: everything else is for programs. */
function isBrowserPath(rawUrl: string): boolean {
  return /^\/admin(?:[/?]|$)/.test(rawUrl);
}

/**
 * What the request asks for. A matched route says so itself; one that says nothing (Bull Board's) is for
 * operators; no route at all takes any valid key, so that only key holders learn what does not exist.
 */
function accessOf(request: FastifyRequest): Access {
  return request.routeOptions.config.access ?? (request.is404 ? 'any-key' : 'operator');
}

function refuseUnknown(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const browser = isBrowserPath(request.raw.url ?? '');
  void reply.header('WWW-Authenticate', `${browser ? 'Basic' : 'Bearer'} realm="Crewboard"`);
  if (browser && request.headers.accept?.includes('text/html')) {
    return reply.code(401).type('text/html; charset=utf-8').send(LOGIN_PAGE);
  }
  return sendProblem(
    request,
    reply,
    new CrewboardError(
      'unauthorized',
      'A valid key is needed: send "Authorization: Bearer <key>" with the value of CREWBOARD_API_KEY.',
    ),
  );
}

/** Headers that every answer carries; a page that needs more than nothing overrides the policy. */
function setSecurityHeaders(reply: FastifyReply): void {
  void reply.headers({
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    // Not "no-referrer": a browser would then send "Origin: null" with a form of our own.
    'Referrer-Policy': 'same-origin',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'Cache-Control': 'no-store',
  });
}

/**
 * Returns the guard: it runs before everything else and lets a request through (`undefined`), or answers it.
 * It goes by the matched route and never by the path, so no spelling of a path gets past it.
 */
export function createGuard({ authenticate, boundToLoopback }: GuardOptions) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    setSecurityHeaders(reply);
    const access = accessOf(request);
    const key = presentedKey(request.headers.authorization, isBrowserPath(request.raw.url ?? ''));
    // A public route does not ask for a key, so that health can be read while keys cannot.
    const caller = key === undefined || access === 'public' ? undefined : await authenticate(key);
    if (caller === undefined && access !== 'public') return refuseUnknown(request, reply);
    try {
      refuseForeignSite(request.headers, boundToLoopback);
    } catch (error) {
      if (error instanceof CrewboardError) return sendProblem(request, reply, error);
      throw error;
    }
    if (caller !== undefined && !mayUse(caller, access)) {
      return sendProblem(
        request,
        reply,
        new CrewboardError(
          'forbidden',
          `This key has the role "${caller.role}" for ${caller.project === '*' ? 'all projects' : `project ${caller.project}`}; this needs ${neededFor(access)}.`,
        ),
      );
    }
    request.caller = caller;
    return undefined;
  };
}
