import type { Role } from '@crewboard/contracts';
import type { Scope } from '@crewboard/orchestrator';

/** Who a valid key speaks for. `project` is `*` for all projects. */
export interface Caller extends Scope {
  role: Role;
  /** The ID of the key, which is no secret. */
  keyId: string;
}

/**
 * Who may use a route: everybody, any valid key, a role, any key of all projects, or an `operator` (an admin key of all
 * projects).
 */
export type Access = 'public' | 'any-key' | Role | 'all-projects' | 'operator';

/** True when `caller` may use what asks for `access`. Every role may read; an admin may do everything. */
export function mayUse(caller: Caller, access: Access): boolean {
  if (access === 'all-projects') return caller.project === '*';
  if (access === 'operator') return caller.role === 'admin' && caller.project === '*';
  if (access === 'public' || access === 'any-key' || access === 'read') return true;
  return caller.role === 'admin' || caller.role === access;
}

/** What a key must be for `access`, in words for whoever was refused. */
export function neededFor(access: Access): string {
  if (access === 'all-projects') return 'a key of all projects ("*")';
  if (access === 'operator') return 'an admin key of all projects ("*")';
  return `the role "${access}"${access === 'admin' ? '' : ' or "admin"'}`;
}
