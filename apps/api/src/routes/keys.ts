import { CreatedKey, CreateKeyBody, KeyId, KeyList, KeyListQuery } from '@crewboard/contracts';
import type { Service } from '@crewboard/orchestrator';
import { z } from 'zod';
import { BARE, guardedRoute, json, type Route } from '../route.ts';
import { IdempotencyHeaders } from './shapes.ts';

/** Returns the routes of API keys: make, list, revoke. */
export function keyRoutes(service: Service): Route[] {
  return [
    guardedRoute({
      ...BARE,
      method: 'POST',
      name: 'createKey',
      path: '/v1/keys',
      summary: 'Make a key; its text is in this answer alone',
      access: 'operator',
      headers: IdempotencyHeaders,
      body: CreateKeyBody,
      example: { name: 'nightly build', role: 'submit', project: 'default' },
      answer: CreatedKey,
      status: 201,
      otherStatuses: [200],
      handler: async ({ body, headers }, caller) => {
        const created = await service.createKey(caller, body, headers['idempotency-key']);
        return json(created, created.already ? 200 : 201);
      },
    }),
    guardedRoute({
      ...BARE,
      method: 'GET',
      name: 'listKeys',
      path: '/v1/keys',
      summary: 'List the keys, in the order of their making',
      access: 'operator',
      query: KeyListQuery,
      answer: KeyList,
      handler: async ({ query }, caller) => json(await service.listKeys(caller, query)),
    }),
    guardedRoute({
      ...BARE,
      method: 'DELETE',
      name: 'revokeKey',
      path: '/v1/keys/:id',
      summary: 'Revoke a key, at once',
      access: 'operator',
      params: z.strictObject({ id: KeyId }),
      answer: z.undefined(),
      status: 204,
      handler: async ({ params }, caller) => {
        await service.revokeKey(caller, params.id);
        return { kind: 'empty' };
      },
    }),
  ];
}
