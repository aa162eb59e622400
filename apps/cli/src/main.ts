import { runCli } from './program.ts';
import { openTerminal } from './terminal.ts';

process.exitCode = await runCli(process.argv.slice(2), openTerminal());
