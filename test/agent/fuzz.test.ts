import { expect, it } from 'vitest';
import { fuzz } from './fuzz.ts';

// The long form is test/long/agent-fuzz.ts.
it('over random replies the loop ends within its bounds, by its union, and sends valid requests only', async () => {
  const outcomes = await fuzz(1000, 20_261_130);
  expect(Object.keys(outcomes).length).toBeGreaterThan(4);
});
