import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin } from 'vite';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The programs that tests start often: each start from source costs twice the CPU of one from a build. */
const PROGRAMS = {
  crewboard: 'apps/cli/src/main.ts',
  claimer: 'test/support/claimer-program.ts',
  retention: 'test/support/retention-program.ts',
  story: 'test/agent/kill/program.ts',
};
export type Program = keyof typeof PROGRAMS;

/** Where the run has put its build, for this process and those that it starts. */
const VARIABLE = 'CREWBOARD_TEST_PROGRAMS';

/** The arguments with which Node starts a program: as the run has built it, else from source, as `npx crewboard` does. */
export function startArguments(program: Program): string[] {
  // biome-ignore lint/style/noProcessEnv: how a run tells its workers where its build lies
  const built = process.env[VARIABLE];
  if (built !== undefined) return [join(built, `${program}.js`)];
  if (program === 'crewboard') return [join(ROOT, 'apps/cli/bin/crewboard.js')];
  return ['--conditions=@crewboard/source', '--import', 'tsx', join(ROOT, PROGRAMS[program])];
}

/** A bundled module finds its files, such as scripts, beside its source. */
const besideSource: Plugin = {
  name: 'beside-source',
  enforce: 'pre',
  transform: (code, id) =>
    code.includes('import.meta.url')
      ? { code: code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href)), map: null }
      : null,
};

/** What is not ours stays where it is, and is the version that its importer has. */
const othersOutside: Plugin = {
  name: 'others-outside',
  enforce: 'pre',
  async resolveId(source, importer, options) {
    const isOurs = importer === undefined || /^(\.|\/|@crewboard\/)/.test(source);
    if (isOurs) return null;
    const found = await this.resolve(source, importer, { ...options, skipSelf: true });
    return found === null ? null : { id: found.id, external: true };
  },
};

/**
 * Builds the programs from today's source into a folder of its own, and makes
 * {@link startArguments} name them. Returns a function that takes both back.
 */
export async function buildPrograms(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'crewboard-test-programs-'));
  await build({
    configFile: false,
    root: ROOT,
    logLevel: 'error',
    publicDir: false,
    plugins: [besideSource, othersOutside],
    // As Node resolves.
    ssr: {
      noExternal: true,
      resolve: { conditions: ['@crewboard/source', 'node', 'import'], mainFields: [] },
    },
    build: {
      ssr: true,
      outDir: folder,
      emptyOutDir: false,
      target: 'node20',
      rolldownOptions: { input: PROGRAMS },
    },
  });
  // biome-ignore lint/style/noProcessEnv: as above
  process.env[VARIABLE] = folder;
  return async () => {
    // biome-ignore lint/style/noProcessEnv: as above
    delete process.env[VARIABLE];
    await rm(folder, { recursive: true, force: true });
  };
}
