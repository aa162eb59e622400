import { RerunBody } from '@crewboard/contracts';
import { describe, expect, it } from 'vitest';

describe('the body of a rerun', () => {
  it.each([
    { where: {} },
    { where: { status: 'pending' } },
    { where: { status: [] } },
    { where: { key: ' ' } },
    { where: { class: 'none' } },
    { where: { owner: 'ann' } },
    { where: { key: '*' }, expectCount: 0 },
    { where: { key: '*' }, more: 1 },
    {},
  ])('%j is refused', (body) => {
    expect(RerunBody.safeParse(body).success).toBe(false);
  });
});
