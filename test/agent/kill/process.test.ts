import { expect, it } from 'vitest';
import { countInProcess, killAndGoOn } from './process.ts';

it('a process killed with -9 at a request, a chunk, a tool and a journal write is gone on with', {
  timeout: 120_000,
}, async () => {
  const crossed = await countInProcess();
  const moments = [
    'after request',
    'before chunk content_block_delta',
    'end of change_1',
    'before journal tool.result',
  ];
  for (const moment of moments) {
    const at = crossed.indexOf(moment) + 1;
    expect(at, moment).toBeGreaterThan(0);
    await killAndGoOn(at);
  }
});
