import { z } from 'zod';
import { openApiDocument } from '../openapi/document.ts';
import { BARE, guardedRoute, json, type Route } from '../route.ts';

/** Returns the routes, with one more: the OpenAPI document of them all. */
export function withOpenApi(routes: readonly Route[], version: string): Route[] {
  let document: object | undefined;
  const all: Route[] = [
    ...routes,
    guardedRoute({
      ...BARE,
      method: 'GET',
      name: 'readOpenApi',
      path: '/openapi.json',
      summary: 'This document: OpenAPI 3.1',
      access: 'any-key',
      answer: z.looseObject({ openapi: z.string() }),
      handler: async () => {
        document ??= openApiDocument(all, version);
        return json({ openapi: '3.1.1', ...document });
      },
    }),
  ];
  return all;
}
