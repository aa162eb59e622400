import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const root = join(import.meta.dirname, '../..');
const read = (...path: string[]) => readFileSync(join(root, ...path), 'utf8');

const Manifest = z.looseObject({
  name: z.string(),
  version: z.string(),
  private: z.boolean().optional(),
  engines: z.object({ node: z.string() }),
  files: z.array(z.string()),
  dependencies: z.record(z.string(), z.string()).default({}),
});

const workspaces = ['apps', 'packages']
  .flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(folder, name)))
  .map((folder) => ({ folder, manifest: Manifest.parse(JSON.parse(read(folder, 'package.json'))) }))
  .filter(({ manifest }) => manifest.private !== true);

describe.each(workspaces)('$manifest.name', ({ folder, manifest }) => {
  it('carries the licence and says what it is', () => {
    expect(read(folder, 'LICENSE')).toBe(read('LICENSE'));
    expect(read(folder, 'README.md')).toMatch(new RegExp(`^# ${manifest.name}\n\n\\S`));
  });

  it('is published without its source and its tests, for the Node that the repository asks for', () => {
    expect(manifest.files.filter((path) => /^src(\/|$)/.test(path) && !path.endsWith('.lua'))).toEqual([]);
    expect(manifest.files).toContain('dist');
    expect(manifest.engines.node).toBe(JSON.parse(read('package.json')).engines.node);
  });

  it('is published with what its source reads besides TypeScript', () => {
    const paths = readdirSync(join(root, folder, 'src'), { recursive: true, encoding: 'utf8' });
    const kinds = new Set(paths.map((path) => extname(path)).filter((kind) => kind !== '' && kind !== '.ts'));
    expect([...kinds].filter((kind) => !manifest.files.includes(`src/**/*${kind}`))).toEqual([]);
  });

  it('needs the other packages in their own version, and nothing that compiles', () => {
    const versions = new Map(workspaces.map((other) => [other.manifest.name, other.manifest.version]));
    for (const [name, version] of Object.entries(manifest.dependencies)) {
      if (name.startsWith('@crewboard/')) expect([name, version]).toEqual([name, versions.get(name)]);
      expect(name).not.toMatch(/^(tsx|typescript|esbuild)$/);
    }
  });
});
