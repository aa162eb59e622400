import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');

function sources(): string[] {
  return ['apps', 'packages'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => /^[^/]+\/src\/.*\.ts$/.test(path))
      .map((path) => `${folder}/${path}`),
  );
}

/** Files whose text matches, apart from those that may. */
function offenders(pattern: RegExp, allowed: RegExp): string[] {
  return sources().filter(
    (path) => !allowed.test(path) && pattern.test(readFileSync(join(root, path), 'utf8')),
  );
}

describe('side effects stand at the edges', () => {
  it('finds the sources it looks through', () => {
    expect(sources().length).toBeGreaterThan(100);
  });

  it('opens connections in main.ts only; local mode looks after a Redis of its own', () => {
    expect(offenders(/new (Redis|Cluster)\(/, /\/src\/main\.ts$|^apps\/cli\/src\/local\//)).toEqual([]);
  });

  it('reads the environment in config.ts only', () => {
    expect(offenders(/process\.env/, /\/src\/config\.ts$/)).toEqual([]);
  });

  it('never silences the compiler', () => {
    expect(offenders(/@ts-(ignore|expect-error|nocheck)|\bas (any|unknown as)\b|: any\b/, /^$/)).toEqual([]);
  });
});
