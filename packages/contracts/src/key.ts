import { z } from 'zod';
import { visibleText } from './shown-text.ts';
import { titleText } from './text.ts';

/** What a key may do: everything, submit and steer jobs, read, or work on tasks from outside. Each may read, too. */
export const ROLES = ['admin', 'submit', 'read', 'worker'] as const;
export const Role = z.enum(ROLES);
export type Role = z.infer<typeof Role>;

/** The ID of the key that the server's environment gives. */
export const ENVIRONMENT_KEY_ID = 'env';

/** A key's ID: `key_` and 12 characters, or `env`. It is no secret. */
export const KeyId = z
  .string()
  .regex(/^(?:env|key_[2-9a-hjkmnp-z]{12})$/, 'must be the ID of a key such as "key_4kx9m2ab7ycd"');
export type KeyId = z.infer<typeof KeyId>;

/** A project, or `*` for all. */
export const KeyProject = z
  .string()
  .regex(
    /^(?:\*|[a-z0-9][a-z0-9._-]{0,63})$/,
    'must be a project (lower-case letters, digits, ".", "_" or "-", at most 64), or "*" for all',
  );

/** What events and logs call whoever uses a key. */
export const KeyName = titleText(64).refine(
  (name) => visibleText(name) === name && name.trim() === name,
  'must have no control or hidden characters and no space at its ends',
);

export const CreateKeyBody = z.strictObject({ name: KeyName, role: Role, project: KeyProject });
export type CreateKeyBody = z.infer<typeof CreateKeyBody>;

/** An API key as lists show it: never its text, nor a digest of it. */
export const ApiKey = z.strictObject({
  id: KeyId,
  name: z.string(),
  role: Role,
  project: KeyProject,
  /** Absent for the key of the environment. */
  createdAt: z.iso.datetime().optional(),
  /** To the minute; absent: never, as far as is known. */
  lastUsedAt: z.iso.datetime().optional(),
});
export type ApiKey = z.infer<typeof ApiKey>;

/** A new key. Its text is in the first answer alone: a repeat under the same Idempotency-Key says `already` instead. */
export const CreatedKey = ApiKey.extend({
  key: z.string().optional(),
  already: z.literal(true).optional(),
});
export type CreatedKey = z.infer<typeof CreatedKey>;

export const KeyList = z.strictObject({ keys: z.array(ApiKey), nextCursor: z.string().optional() });
export type KeyList = z.infer<typeof KeyList>;
export const KeyListQuery = z.strictObject({
  cursor: z.string().max(100).optional(),
  limit: z.coerce.number().int().min(1).max(100).optional(),
});
export type KeyListQuery = z.infer<typeof KeyListQuery>;
