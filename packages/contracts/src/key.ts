import { z } from 'zod';

/** What a key may do: everything, submit and steer jobs, read, or work on tasks from outside; all but the last three also read. */
export const ROLES = ['admin', 'submit', 'read', 'worker'] as const;
export const Role = z.enum(ROLES);
export type Role = z.infer<typeof Role>;
