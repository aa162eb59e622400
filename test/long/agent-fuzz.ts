import { parseArgs } from 'node:util';
import { fuzz } from '../agent/fuzz.ts';

/**
 * Random model replies, grammar-valid and not, through the loop with a clock that does not wait. A failure is shrunk.
 * `node --conditions=@crewboard/source --import tsx test/long/agent-fuzz.ts --replies 10000 --seed 1`
 */
const { values } = parseArgs({
  options: {
    replies: { type: 'string', default: '10000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
  },
});
process.stdout.write(`seed ${values.seed}\n`);
const outcomes = await fuzz(Number(values.replies), Number(values.seed));
process.stdout.write(`${JSON.stringify(outcomes)}\n`);
