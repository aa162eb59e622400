import { colourVariables, readColourWish } from './config.ts';
import { endAtDefects } from './defects.ts';
import { runCli } from './program.ts';
import { openTerminal } from './terminal.ts';

const args = process.argv.slice(2);
const terminal = openTerminal(readColourWish(args), colourVariables());
endAtDefects(process, terminal);
process.exitCode = await runCli(args, terminal);
