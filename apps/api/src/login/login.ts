import { CrewboardError, parseOrThrow } from '@crewboard/contracts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { KeyRing } from '../auth.ts';
import type { Limits } from '../limits.ts';
import { refuseForeignForm } from '../origin.ts';
import { refuseOtherMethods } from '../other-methods.ts';
import { sessionToken, setSessionCookie } from './cookie.ts';
import { AFTER_LOGIN, nextPath } from './next-path.ts';
import { sendAccount, sendLogin } from './page.ts';
import type { Sessions } from './sessions.ts';

const FORM_BYTES_MOST = 16_384;
const Form = z.object({ key: z.string().max(1024).default(''), next: z.string().max(8192).optional() });
const Query = z.object({ next: z.string().max(8192).optional() });

export interface LoginOptions {
  keys: KeyRing;
  sessions: Sessions;
  /** Known once the application has loaded its plugins. */
  limits: () => Limits;
}

/** What a browser sends of a form. */
const FORM_TYPE = 'application/x-www-form-urlencoded';

/** Sends the browser on by GET. */
function goTo(reply: FastifyReply, path: string): FastifyReply {
  return reply.code(303).header('Location', path).send();
}

/** Shows the form, or to whom is logged in who he is. */
async function showLogin(request: FastifyRequest, reply: FastifyReply, { sessions }: LoginOptions) {
  const token = sessionToken(request);
  const known = token === undefined ? undefined : await sessions.find(token);
  if (known !== undefined) return sendAccount(reply, known.caller);
  const { next } = parseOrThrow(Query, request.query, 'The query');
  return sendLogin(reply, 200, { next: nextPath(next) });
}

/** Opens a session for the holder of a valid key and goes where he wanted to; else shows the form again and says why. */
async function logIn(request: FastifyRequest, reply: FastifyReply, options: LoginOptions) {
  refuseForeignForm(request.headers);
  const { keys, sessions } = options;
  const form = parseOrThrow(Form, request.body, 'The form');
  const next = nextPath(form.next);
  const key = form.key.trim();
  if (key === '') return sendLogin(reply, 400, { next, problem: 'Give a key.' });
  const limits = options.limits();
  await limits.refuseGuesser(request, reply);
  const known = await keys.byKey(key);
  if (known === undefined) {
    await limits.countWrongKey(request);
    return sendLogin(reply, 401, { next, problem: 'This server does not know that key.' });
  }
  const token = await sessions.open(known);
  return goTo(setSessionCookie(request, reply, token), next);
}

async function logOut(request: FastifyRequest, reply: FastifyReply, { sessions }: LoginOptions) {
  const token = sessionToken(request);
  if (token !== undefined) await sessions.end(token);
  return goTo(setSessionCookie(request, reply, undefined), AFTER_LOGIN);
}

/** Where a form is answered with a page, so are refusals that its reader can do something about. */
function showRefusal(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const next = nextPath(Form.safeParse(request.body).data?.next);
  if (error instanceof CrewboardError && error.code === 'rate_limited')
    return sendLogin(reply, 429, { next, problem: error.detail });
  if (error instanceof CrewboardError && error.code === 'unavailable')
    return sendLogin(reply, 503, { next, problem: error.detail });
  if (error instanceof Error && 'code' in error && error.code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return sendLogin(reply, 413, { next, problem: 'That is too long for a key.' });
  if (error instanceof Error && 'code' in error && error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
    throw new CrewboardError(
      'unsupported_media_type',
      `The login takes the form of its page: send it with "Content-Type: ${FORM_TYPE}". Calls of the API need no login, but "Authorization: Bearer <key>".`,
      { allowed: [FORM_TYPE], next: 'GET /login' },
    );
  throw error;
}

/**
 * Mounts `/login` and `/logout`. They are public: the guard lets them through when they come from a page of this server
 * (or from no page at all).
 */
export function mountLogin(app: FastifyInstance, options: LoginOptions): void {
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser<string>(
      FORM_TYPE,
      { parseAs: 'string', bodyLimit: FORM_BYTES_MOST },
      async (_request: FastifyRequest, body: string) => Object.fromEntries(new URLSearchParams(body)),
    );
    scope.setErrorHandler(showRefusal);
    const config = { access: 'public' } as const;
    scope.get('/login', { config }, (request, reply) => showLogin(request, reply, options));
    scope.post('/login', { config }, (request, reply) => logIn(request, reply, options));
    scope.post('/logout', { config }, (request, reply) => logOut(request, reply, options));
    refuseOtherMethods(scope, '/login', ['GET', 'HEAD', 'POST'], 'public');
    refuseOtherMethods(scope, '/logout', ['POST'], 'public');
  });
}
