import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { run } from './command.ts';

/** A package as it would be published. */
export interface Tarball {
  name: string;
  file: string;
  /** Every path in it, below the package. */
  paths: string[];
}

const Packed = z.array(
  z.object({ name: z.string(), filename: z.string(), files: z.array(z.object({ path: z.string() })) }),
);

const Manifest = z.object({
  license: z.string(),
  description: z.string(),
  type: z.literal('module'),
  engines: z.object({ node: z.string() }),
  publishConfig: z.object({ access: z.literal('public') }),
  exports: z.object({ '.': z.object({ types: z.string(), default: z.string() }) }),
  bin: z.record(z.string(), z.string()).default({}),
  dependencies: z.record(z.string(), z.string()).default({}),
});

/** Packs every workspace into `folder`. */
export async function packAll(root: string, folder: string): Promise<Tarball[]> {
  const json = await run('npm', ['pack', '--workspaces', '--json', '--pack-destination', folder], {
    cwd: root,
  });
  const given: unknown = JSON.parse(json);
  // npm 11 answers a list, npm 12 an object with a field a package.
  const packed = Packed.parse(Array.isArray(given) ? given : Object.values(z.looseObject({}).parse(given)));
  return packed.map(({ name, filename, files }) => ({
    name,
    file: join(folder, filename),
    paths: files.map(({ path }) => path),
  }));
}

const isNeeded = (path: string) =>
  /^(package\.json|README\.md|LICENSE)$|^bin\/|^src\/.*\.lua$/.test(path) ||
  /^dist\/(examples\/.*\.(md|json)|.*\.(js|js\.map|d\.ts))$/.test(path);

/** What is wrong with the packed form of a workspace in words, its unpacked form being in `folder`. */
export async function faultsOf({ name, paths }: Tarball, folder: string): Promise<string[]> {
  const read = async (path: string): Promise<unknown> =>
    JSON.parse(await readFile(join(folder, path), 'utf8'));
  const manifest = Manifest.safeParse(await read('package.json'));
  if (!manifest.success) return [`${name}: package.json: ${z.prettifyError(manifest.error)}`];
  const { exports, bin, dependencies } = manifest.data;
  const wanted = [exports['.'].types, exports['.'].default, ...Object.values(bin)].map((path) =>
    path.replace(/^\.\//, ''),
  );
  const maps = paths.filter((path) => path.endsWith('.js.map'));
  const sources = await Promise.all(maps.map(async (path) => z.looseObject({}).parse(await read(path))));
  return [
    ...['README.md', 'LICENSE', ...wanted]
      .filter((path) => !paths.includes(path))
      .map((path) => `lacks ${path}`),
    ...paths.filter((path) => !isNeeded(path)).map((path) => `carries ${path}`),
    ...Object.entries(dependencies)
      .filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))
      .map(([dependency, version]) => `does not pin ${dependency} (${version})`),
    ...Object.keys(dependencies)
      .filter((dependency) => dependency === 'tsx')
      .map(() => 'needs tsx to run'),
    ...maps
      .filter((_, at) => sources[at]?.sourcesContent === undefined)
      .map((path) => `${path} has no source`),
  ].map((fault) => `${name} ${fault}`);
}
