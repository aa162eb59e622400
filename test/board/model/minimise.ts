import type { Scenario } from './commands.ts';

const RUNS_MOST = 500;

/**
 * Leaves out commands, then tasks, then settings of a scenario for as long as it still fails; `fails` runs it. At most
 * RUNS_MOST runs.
 */
export async function minimise(
  scenario: Scenario,
  fails: (smaller: Scenario) => Promise<boolean>,
): Promise<Scenario> {
  let smallest = scenario;
  let runs = 0;
  const tryOut = async (smaller: Scenario): Promise<boolean> => {
    runs += 1;
    if (runs > RUNS_MOST || !(await fails(smaller))) return false;
    smallest = smaller;
    return true;
  };
  for (let size = Math.ceil(scenario.commands.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < smallest.commands.length; ) {
      const isGone = await tryOut({ ...smallest, commands: smallest.commands.toSpliced(at, size) });
      if (!isGone) at += size;
    }
  }
  while (smallest.tasks.length > 1) {
    if (!(await tryOut({ ...smallest, tasks: smallest.tasks.slice(0, -1) }))) break;
  }
  const { slice: _, ...whole } = smallest.settings;
  await tryOut({ ...smallest, settings: whole });
  await tryOut({ ...smallest, settings: { ...smallest.settings, lead: false } });
  return smallest;
}
