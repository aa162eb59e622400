import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { KeyRing } from './auth.ts';
import { openToOrigins } from './cors.ts';
import { createGuard, type Guard } from './guard.ts';
import { createLimits, type LimitOptions, type Limits, prepareLimits } from './limits.ts';
import { prepareCookies } from './login/cookie.ts';
import { mountLogin } from './login/login.ts';
import type { Sessions } from './login/sessions.ts';
import { endRevokedRequests } from './long-requests.ts';
import { setSecurityHeaders } from './security-headers.ts';
import { refuseUnclearHeaders } from './single-headers.ts';

/** Who may come in, and how often. */
export interface DoorOptions extends LimitOptions {
  keys: KeyRing;
  sessions: Sessions;
  boundToLoopback: boolean;
  /** Origins besides the server's own whose pages may use it; none: closed. */
  origins: readonly string[];
  /** How often the keys of long requests are looked up again. */
  lookMs?: number | undefined;
}

/**
 * Puts the guard before everything that `app` serves, whatever is registered before or after; it must be called once,
 * before any plugin with routes. Answers of every kind, refusals too, carry the headers of security and of CORS: a page
 * of another origin could not read a refusal without them. Returns the guard, for requests that run no hooks.
 */
export function installDoor(app: FastifyInstance, options: DoorOptions): Guard {
  let door: { guard: Guard; limits: Limits } | undefined;
  const open = () => {
    if (door === undefined) throw new Error('the door is used before the application is ready');
    return door;
  };
  app.addHook('onRequest', async (request, reply) => {
    setSecurityHeaders(reply);
    refuseUnclearHeaders(request.raw);
  });
  openToOrigins(app, options.origins);
  prepareCookies(app);
  prepareLimits(app);
  app.after((error) => {
    if (error) throw error;
    const limits = createLimits(app, options);
    door = { limits, guard: createGuard({ ...options, limits }) };
    // A hook of the application itself: it is in force for every route, however early that was registered.
    app.addHook('onRequest', async (request, reply) => open().guard(request, reply));
    endRevokedRequests(app, options.lookMs);
  });
  mountLogin(app, { ...options, limits: () => open().limits });
  return async (request: FastifyRequest, reply: FastifyReply) => {
    setSecurityHeaders(reply);
    refuseUnclearHeaders(request.raw);
    return open().guard(request, reply);
  };
}
