import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { FastifyInstance, RouteHandlerMethod } from 'fastify';
import { refuseOtherMethods } from './other-methods.ts';

export const DOCS_PATH = '/docs';

/** The page draws with inline styles and images of its own; nothing comes from elsewhere. */
const PAGE_POLICY = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const PAGE = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Crewboard: the API</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,"><link rel="stylesheet" href="${DOCS_PATH}/swagger-ui.css"></head>
<body><div id="page"></div><noscript>This page needs scripts; the document is at /openapi.json.</noscript>
<script src="${DOCS_PATH}/swagger-ui-bundle.js"></script><script src="${DOCS_PATH}/start.js"></script></body></html>
`;

const START = `SwaggerUIBundle({
  url: '/openapi.json', dom_id: '#page', deepLinking: true, validatorUrl: null, docExpansion: 'list',
  defaultModelsExpandDepth: 0, tagsSorter: undefined, withCredentials: true,
});
`;

/** Where the package that carries Swagger UI keeps its files. */
function filesFolder(): string {
  const require = createRequire(import.meta.url);
  return join(dirname(require.resolve('@fastify/swagger-ui')), 'static');
}

const FILES = [
  ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
  ['swagger-ui.css', 'text/css; charset=utf-8'],
] as const;

/** Mounts the page of the API at {@link DOCS_PATH}, for any key; it works without a connection to the world. */
export function mountDocsPage(app: FastifyInstance): void {
  const folder = filesFolder();
  const get = (path: string, handler: RouteHandlerMethod) => {
    app.get(path, { config: { access: 'any-key' } }, handler);
    refuseOtherMethods(app, path, ['GET', 'HEAD'], 'any-key');
  };
  get(DOCS_PATH, async (_request, reply) =>
    reply.header('Content-Security-Policy', PAGE_POLICY).type('text/html; charset=utf-8').send(PAGE),
  );
  get(`${DOCS_PATH}/start.js`, async (_request, reply) =>
    reply.type('text/javascript; charset=utf-8').send(START),
  );
  for (const [name, type] of FILES) {
    get(`${DOCS_PATH}/${name}`, async (_request, reply) => {
      const path = join(folder, name);
      const { size } = await stat(path);
      return reply.type(type).header('Content-Length', size).send(createReadStream(path));
    });
  }
}
