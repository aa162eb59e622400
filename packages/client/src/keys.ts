import { CreatedKey, type CreateKeyBody, KeyList } from '@crewboard/contracts';
import type { CallOptions, Page, WriteOptions } from './call-options.ts';
import { withQuery, writeHeaders } from './requests.ts';
import type { Transport } from './transport.ts';

/** API keys, for admin keys of all projects. */
export interface KeyCalls {
  /** Makes a key; its text (`key`) is in this answer alone. */
  create(body: CreateKeyBody, options?: WriteOptions): Promise<CreatedKey>;
  list(page?: Page, options?: CallOptions): Promise<KeyList>;
  /** Revokes a key by its ID, at once. */
  revoke(keyId: string, options?: CallOptions): Promise<void>;
}

/** The calls about keys. */
export function keyCalls(transport: Transport): KeyCalls {
  return {
    create: (body, options = {}) =>
      transport.json(CreatedKey, {
        method: 'POST',
        path: '/v1/keys',
        body,
        headers: writeHeaders(options),
        signal: options.signal,
      }),
    list: (page = {}, { signal } = {}) =>
      transport.json(KeyList, { path: withQuery('/v1/keys', page), signal }),
    revoke: (keyId, { signal } = {}) =>
      transport.none({ method: 'DELETE', path: `/v1/keys/${encodeURIComponent(keyId)}`, signal }),
  };
}
