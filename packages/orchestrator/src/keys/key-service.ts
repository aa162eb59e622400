import { createHash } from 'node:crypto';
import { withoutAbsent } from '@crewboard/board';
import {
  type ApiKey,
  type CreatedKey,
  type CreateKeyBody,
  CrewboardError,
  cursorAfter,
  ENVIRONMENT_KEY_ID,
  isoTime,
  placeOf,
} from '@crewboard/contracts';
import type { KeyCalls, Scope } from '../service.ts';
import type { Created, KeyRecord, KeyStore } from './key-store.ts';
import { digestOf, newKeyText } from './key-text.ts';

/** Whom the key of the server's environment speaks for. */
export const ENVIRONMENT_KEY = {
  id: ENVIRONMENT_KEY_ID,
  name: 'admin',
  role: 'admin',
  project: '*',
} as const satisfies ApiKey;

const PAGE_DEFAULT = 50;
/** The place of the environment's key in the list. */
const FIRST_PLACE = 1;

interface KeyDependencies {
  store: KeyStore;
  /** Whether CREWBOARD_API_KEY is set. */
  hasEnvironmentKey: boolean;
}

function refuseProjects({ project }: Scope): void {
  if (project === '*') return;
  throw new CrewboardError('forbidden', 'keys are made and listed by an admin of all projects ("*") only.');
}

function shown(id: string, record: KeyRecord, lastUsed: number | undefined): ApiKey {
  const { name, role, project, createdAt } = record;
  return withoutAbsent({
    id,
    name,
    role,
    project,
    createdAt: isoTime(createdAt),
    lastUsedAt: lastUsed === undefined ? undefined : isoTime(lastUsed),
  });
}

function nameTaken(name: string, id: string): CrewboardError {
  return new CrewboardError(
    'duplicate_key',
    `there is a key named "${name}" already (${id}): events name who did something by it. Choose another name, or revoke that key first.`,
    { path: 'name', next: 'GET /v1/keys' },
  );
}

/** The refusal that came of making a key of `name`. */
function notMade(created: Extract<Created, { kind: 'named' | 'full' }>, name: string): CrewboardError {
  if (created.kind === 'named') return nameTaken(name, created.id);
  return new CrewboardError(
    'limit_exceeded',
    `there are ${created.count} keys already, and that is the most. Revoke those that nobody uses.`,
    { keys: created.count, next: 'GET /v1/keys' },
  );
}

/** What operators do with keys; see KeyCalls. */
export function keyService({ store, hasEnvironmentKey }: KeyDependencies): KeyCalls {
  const usedAt = async (id: string) => (await store.lastUsed([id]))[0];

  /** The answer to a repeat: the record that the first request made, without the key, which nobody has any more. */
  async function again(id: string): Promise<CreatedKey> {
    const record = await store.find(id);
    if (record !== undefined) return { ...shown(id, record, await usedAt(id)), already: true };
    throw new CrewboardError(
      'terminal',
      `${id}, which this Idempotency-Key made, was revoked. Use a new Idempotency-Key for a new key.`,
      { next: { call: 'again', with: 'a new Idempotency-Key' } },
    );
  }

  async function createKey(body: CreateKeyBody, idempotencyKey?: string): Promise<CreatedKey> {
    const { id, text } = newKeyText();
    const hash = createHash('sha256').update(JSON.stringify(body)).digest('hex');
    const record = { ...body, hash: digestOf(text).toString('hex'), createdAt: await store.now() };
    const bound = idempotencyKey === undefined ? undefined : { key: idempotencyKey, hash };
    const created = await store.create(id, record, bound);
    if (created.kind === 'made') return { ...shown(id, record, undefined), key: text };
    if (created.kind !== 'bound') throw notMade(created, body.name);
    if (created.binding.hash === hash) return again(created.binding.id);
    throw new CrewboardError(
      'idempotency_mismatch',
      `this Idempotency-Key was used with another body, for ${created.binding.id}. Use a new one.`,
    );
  }

  return {
    async createKey(scope, body, idempotencyKey) {
      refuseProjects(scope);
      if (body.name.normalize('NFKC').toLowerCase() === ENVIRONMENT_KEY.name)
        throw nameTaken(body.name, 'CREWBOARD_API_KEY');
      return createKey(body, idempotencyKey);
    },

    async listKeys(scope, { cursor, limit = PAGE_DEFAULT }) {
      refuseProjects(scope);
      const after = placeOf('keys', cursor);
      const isFirst = hasEnvironmentKey && after < FIRST_PLACE;
      const found = await store.page(after, limit + 1);
      const listed = found.slice(0, isFirst ? limit - 1 : limit);
      const used = await store.lastUsed([ENVIRONMENT_KEY.id, ...listed.map(({ id }) => id)]);
      const [environmentUsed, ...others] = used;
      const own = withoutAbsent({
        ...ENVIRONMENT_KEY,
        lastUsedAt: environmentUsed === undefined ? undefined : isoTime(environmentUsed),
      });
      const last = listed.at(-1)?.number ?? FIRST_PLACE;
      return withoutAbsent({
        keys: [...(isFirst ? [own] : []), ...listed.map(({ id, record }, i) => shown(id, record, others[i]))],
        nextCursor: found.length > listed.length ? cursorAfter('keys', last) : undefined,
      });
    },

    async revokeKey(scope, id) {
      refuseProjects(scope);
      if (id === ENVIRONMENT_KEY.id) {
        throw new CrewboardError(
          'forbidden',
          'this key is the CREWBOARD_API_KEY of the server: change that and restart the server. Nothing was changed.',
          { next: 'GET /v1/keys' },
        );
      }
      if (await store.revoke(id)) return;
      throw new CrewboardError('not_found', `no such key ${id}`, { next: 'GET /v1/keys' });
    },
  };
}
