import { CrewboardError } from '@crewboard/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Access, type Caller, mayUse, neededFor } from './access.ts';
import { type KeyRing, type KnownCaller, keyNeeded, presentedKey } from './auth.ts';
import type { Limits } from './limits.ts';
import { sessionToken } from './login/cookie.ts';
import { nextPath } from './login/next-path.ts';
import { sendLogin } from './login/page.ts';
import type { Sessions } from './login/sessions.ts';
import { refuseForeignSite, refuseForgedChange } from './origin.ts';
import { sendProblem } from './problem.ts';
import { setSecurityHeaders } from './security-headers.ts';

export interface GuardOptions {
  keys: KeyRing;
  sessions: Sessions;
  limits: Limits;
  /** Whether the server listens on loopback only: then its `Host` must be this machine. */
  boundToLoopback: boolean;
  /** Origins besides the server's own whose pages may use it. */
  origins: readonly string[];
}

/** What a request shows to say whom it is from; `look` finds out whether it still holds. */
export interface Proof {
  kind: 'key' | 'session';
  look(): Promise<KnownCaller | undefined>;
}

/**
 * What the request asks for. A matched route says so itself; one that says nothing (Bull Board's) is for
 * operators; no route at all takes any valid key, so that only key holders learn what does not exist.
 */
function accessOf(request: FastifyRequest): Access {
  return request.routeOptions.config.access ?? (request.is404 ? 'any-key' : 'operator');
}

/** A person with a browser is shown a form, also by paths that are for programs; who names JSON first is a program. */
function wantsPage({ method, headers: { accept = '' } }: FastifyRequest): boolean {
  const page = accept.indexOf('text/html');
  const json = accept.search(/application\/(?:problem\+)?json/);
  return ['GET', 'HEAD'].includes(method) && page >= 0 && (json < 0 || page < json);
}

/** A key goes before a session: whoever sends one means it. */
function proofOf(request: FastifyRequest, { keys, sessions }: GuardOptions): Proof | undefined {
  const key = presentedKey(request.headers.authorization);
  if (key !== undefined) return { kind: 'key', look: () => keys.byKey(key) };
  const token = sessionToken(request);
  return token === undefined ? undefined : { kind: 'session', look: () => sessions.find(token) };
}

/** Whom the request is from. Throws `unauthorized`, or `rate_limited` for an address that tries key after key. */
async function identify(
  request: FastifyRequest,
  reply: FastifyReply,
  proof: Proof | undefined,
  { limits }: GuardOptions,
): Promise<Caller> {
  if (proof === undefined) throw keyNeeded();
  await limits.refuseGuesser(request, reply);
  const known = await proof.look();
  if (known !== undefined) return known.caller;
  // A login that has run out is no guess.
  if (proof.kind === 'key') await limits.countWrongKey(request);
  throw keyNeeded();
}

function notForThis({ role, project }: Caller, access: Access): CrewboardError {
  const where = project === '*' ? 'all projects' : `the project ${project}`;
  return new CrewboardError(
    'forbidden',
    `This key has the role "${role}" for ${where}; this needs ${neededFor(access)}.`,
  );
}

/** A person is shown the login form where another key would help; programs are told in a problem. */
function refuse(request: FastifyRequest, reply: FastifyReply, error: CrewboardError): FastifyReply {
  // Not "Basic": browsers would ask by a window of their own, and never forget.
  if (error.code === 'unauthorized') void reply.header('WWW-Authenticate', 'Bearer realm="Crewboard"');
  if (!wantsPage(request)) return sendProblem(request, reply, error);
  const next = nextPath(request.raw.url);
  if (error.code === 'unauthorized') return sendLogin(reply, 401, { next });
  if (error.code === 'forbidden' && request.caller !== undefined)
    return sendLogin(reply, 403, { next, problem: error.detail });
  return sendProblem(request, reply, error);
}

/** Throws what stands against the request; `request.caller` is set once it is known. */
async function admit(request: FastifyRequest, reply: FastifyReply, options: GuardOptions): Promise<void> {
  const access = accessOf(request);
  // A public route does not ask for a key, so that health can be read while keys cannot.
  if (access === 'public') return refuseForeignSite(request.headers, options);
  // A browser asks, without any key, whether a page may: to tell it of keys would mislead.
  if (request.method === 'OPTIONS' && request.headers.origin !== undefined)
    refuseForeignSite(request.headers, options);
  const proof = proofOf(request, options);
  const caller = await identify(request, reply, proof, options);
  refuseForeignSite(request.headers, options);
  if (proof?.kind === 'session') refuseForgedChange(request.method, request.headers);
  request.caller = caller;
  request.proof = proof;
  await options.limits.countRequest(request, reply);
  if (!mayUse(caller, access)) throw notForThis(caller, access);
}

/**
 * Returns the guard: it runs before everything else and lets a request through (`undefined`), or answers it.
 * It goes by the matched route and never by the path, so no spelling of a path gets past it.
 */
export function createGuard(options: GuardOptions) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    setSecurityHeaders(reply);
    try {
      await admit(request, reply, options);
      return undefined;
    } catch (error) {
      if (error instanceof CrewboardError) return refuse(request, reply, error);
      throw error;
    }
  };
}

export type Guard = ReturnType<typeof createGuard>;
