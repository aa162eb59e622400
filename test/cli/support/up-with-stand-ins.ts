import { readConfig } from '../../../apps/cli/src/config.ts';
import { explain } from '../../../apps/cli/src/failure.ts';
import { listenForInterrupt } from '../../../apps/cli/src/interrupt.ts';
import { CHILD_COMMANDS, startInstance } from '../../../apps/cli/src/local/instance.ts';
import { openTerminal } from '../../../apps/cli/src/terminal.ts';

/**
 * `up` with other programs in the place of API and worker: both are embedded Redis servers, children of the same
 * kind that start fast. So the supervisor is tested for itself.
 */
const terminal = openTerminal();
const config = readConfig();
const interrupt = listenForInterrupt(config.npmScript);
const standIn = { ...CHILD_COMMANDS.api, args: ['embedded-redis'] };
const report = (line: string) => terminal.message(line);
try {
  const instance = await startInstance(
    {
      config,
      port: Number(process.argv[2] ?? 0),
      commands: { ...CHILD_COMMANDS, api: standIn, worker: standIn },
      backoff: { firstDelayMs: 10 },
      report,
    },
    interrupt.signal,
  );
  const { url, redis } = instance;
  await terminal.data(`${JSON.stringify({ url, redis: redis.kind, pids: instance.pids() })}\n`);
  await new Promise((resolve) => interrupt.signal.addEventListener('abort', resolve));
  await instance.stop({ graceMs: 10_000, force: interrupt.force });
} catch (error) {
  report(explain(error));
  process.exitCode = 1;
} finally {
  interrupt.release();
}
