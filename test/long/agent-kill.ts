import { parseArgs } from 'node:util';
import { countInProcess, killAndGoOn } from '../agent/kill/process.ts';

/**
 * Every boundary of the agent's story, or every n-th, with a real kill -9: two process starts each.
 * `node --conditions=@crewboard/source --import tsx test/long/agent-kill.ts --every 1 --from 1`
 */
const { values } = parseArgs({
  options: { every: { type: 'string', default: '1' }, from: { type: 'string', default: '1' } },
});
const crossed = await countInProcess();
for (let at = Number(values.from); at <= crossed.length; at += Number(values.every)) {
  await killAndGoOn(at);
  process.stdout.write(`${at}/${crossed.length} ${crossed[at - 1]}\n`);
}
