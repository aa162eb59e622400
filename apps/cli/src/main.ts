import { endAtDefects } from './defects.ts';
import { runCli } from './program.ts';
import { openTerminal } from './terminal.ts';

const terminal = openTerminal();
endAtDefects(process, terminal);
process.exitCode = await runCli(process.argv.slice(2), terminal);
