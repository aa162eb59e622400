import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Runs the board's benchmarks one after the other, each in a process of its own. Arguments: names, default all. */
const ALL = ['flat', 'floor', 'json', 'memory', 'scripts', 'embedded'];
const named = process.argv.slice(2);
const unknown = named.filter((name) => !ALL.includes(name));
if (unknown.length > 0) throw new Error(`no benchmark ${unknown.join(', ')}; there are ${ALL.join(', ')}`);

for (const name of named.length > 0 ? named : ALL) {
  const file = fileURLToPath(new URL(`./board-${name}.ts`, import.meta.url));
  const child = spawn(process.execPath, ['--conditions=@crewboard/source', '--import', 'tsx', file], {
    stdio: 'inherit',
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) process.exitCode = 1;
}
