import type { Scope } from '@crewboard/orchestrator';

export const ROLES = ['admin', 'submit', 'read', 'worker'] as const;
export type Role = (typeof ROLES)[number];

/** Who a valid key speaks for. `project` is `*` for all projects. */
export interface Caller extends Scope {
  role: Role;
}

/** Who may use a route: everybody, any valid key, a role, or an `operator` (an admin key of all projects). */
export type Access = 'public' | 'any-key' | Role | 'operator';

/** True when `caller` may use what asks for `access`. Every role may read; an admin may do everything. */
export function mayUse(caller: Caller, access: Access): boolean {
  if (access === 'operator') return caller.role === 'admin' && caller.project === '*';
  if (access === 'public' || access === 'any-key' || access === 'read') return true;
  return caller.role === 'admin' || caller.role === access;
}
