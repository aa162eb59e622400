import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import type { Caller } from '../access.ts';

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0; display: grid; place-items: center; min-height: 100vh; background: Canvas; color: CanvasText; }
main { box-sizing: border-box; width: min(26rem, 100vw); padding: 1.5rem; }
h1 { font-size: 1.4rem; margin: 0 0 1rem; }
label { display: block; font-weight: 600; margin-bottom: .3rem; }
input, button { box-sizing: border-box; font: inherit; width: 100%; padding: .6rem .7rem; border-radius: .4rem; }
input { border: 1px solid GrayText; background: Field; color: FieldText; }
button { margin-top: .8rem; border: 0; background: #1d4ed8; color: #fff; font-weight: 600; cursor: pointer; }
:focus-visible { outline: 3px solid #d97706; outline-offset: 2px; }
.error { border-left: 4px solid #b91c1c; padding: .1rem .8rem; margin: 0 0 1rem; }
.help { font-size: .9rem; margin: .8rem 0 0; }
code { font-size: .95em; }
`;

/** Nothing runs and nothing is fetched; the one style is known by its digest. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escaped = (text: string) => text.replace(/[&<>"']/g, (c) => ESCAPES[c] ?? c);

const page = (title: string, main: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} - Crewboard</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${main}
</main>
</body>
</html>
`;

/** What the form shows besides itself. */
export interface LoginForm {
  /** Where to go after it: a path of this server. */
  next: string;
  /** Why the last try, or the page asked for, was refused. */
  problem?: string | undefined;
}

function loginPage({ next, problem }: LoginForm): string {
  const error =
    problem === undefined ? '' : `<p class="error" role="alert" id="error">${escaped(problem)}</p>\n`;
  const described = problem === undefined ? 'help' : 'error help';
  return page(
    'Log in',
    `${error}<form method="post" action="/login">
<input type="hidden" name="next" value="${escaped(next)}">
<label for="key">API key</label>
<input id="key" name="key" type="password" required autofocus autocomplete="current-password" spellcheck="false"
 aria-describedby="${described}"${problem === undefined ? '' : ' aria-invalid="true"'}>
<button type="submit">Log in</button>
</form>
<p class="help" id="help">The key is the server's <code>CREWBOARD_API_KEY</code>, or one that <code>crewboard keys add</code>
made. <code>crewboard up</code> keeps its own in the file <code>api-key</code> of its data folder.</p>`,
  );
}

function accountPage({ caller, role, project }: Caller): string {
  const where = project === '*' ? 'all projects' : `the project ${project}`;
  const queues =
    role === 'admin' && project === '*' ? '\n<p><a href="/admin/queues">Queues (Bull Board)</a></p>' : '';
  return page(
    'Logged in',
    `<p>As <strong>${escaped(caller)}</strong>: role ${role}, ${escaped(where)}.</p>${queues}
<form method="post" action="/logout"><button type="submit">Log out</button></form>`,
  );
}

function sendPage(reply: FastifyReply, status: number, html: string): FastifyReply {
  return reply
    .code(status)
    .header('Content-Security-Policy', POLICY)
    .type('text/html; charset=utf-8')
    .send(html);
}

/** Answers with the login form. */
export function sendLogin(reply: FastifyReply, status: number, form: LoginForm): FastifyReply {
  return sendPage(reply, status, loginPage(form));
}

/** Answers with who is logged in, and how to log out. */
export function sendAccount(reply: FastifyReply, caller: Caller): FastifyReply {
  return sendPage(reply, 200, accountPage(caller));
}
