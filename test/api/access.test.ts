import { type Access, type Caller, mayUse } from '@crewboard/api';
import { ROLES } from '@crewboard/contracts';
import { expect, test } from 'vitest';

const ACCESSES: Access[] = [
  'public',
  'any-key',
  'read',
  'submit',
  'worker',
  'admin',
  'all-projects',
  'operator',
];

/** What each role may use, for a key of one project. */
const MAY: Record<Caller['role'], Access[]> = {
  read: ['public', 'any-key', 'read'],
  submit: ['public', 'any-key', 'read', 'submit'],
  worker: ['public', 'any-key', 'read', 'worker'],
  admin: ['public', 'any-key', 'read', 'submit', 'worker', 'admin'],
};

test.each(ROLES)('the role %s may use its own and no more', (role) => {
  const caller = { keyId: 'key_1', caller: 'someone', role, project: 'default' };
  expect(ACCESSES.filter((access) => mayUse(caller, access))).toEqual(MAY[role]);
});

test('only an admin of all projects is an operator', () => {
  const operators = ROLES.filter((role) =>
    mayUse({ keyId: 'key_1', caller: 'someone', role, project: '*' }, 'operator'),
  );
  expect(operators).toEqual(['admin']);
});

test('every role of all projects sees what is about all projects, and no other key does', () => {
  const may = (project: string) =>
    ROLES.filter((role) => mayUse({ keyId: 'key_1', caller: 'someone', role, project }, 'all-projects'));
  expect(may('*')).toEqual([...ROLES]);
  expect(may('default')).toEqual([]);
});
