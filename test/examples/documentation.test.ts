import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { Environment } from '../../packages/contracts/src/index.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

async function documents(): Promise<Map<string, string>> {
  const names = ['README.md', ...(await readdir(join(root, 'docs'))).map((name) => `docs/${name}`)];
  const texts = await Promise.all(names.map((name) => readFile(join(root, name), 'utf8')));
  return new Map(names.map((name, at) => [name, texts[at] ?? '']));
}

/** The default that the table row of `variable` gives, without thousands and code marks. */
function documentedDefault(text: string, variable: string): string | undefined {
  const row = new RegExp(`^\\|[^|]*\`${variable}\`[^|]*\\| *([^|]*?) *\\|`, 'm').exec(text);
  return row?.[1]?.replaceAll('`', '');
}

describe('documentation', () => {
  it('links only to files that exist', async () => {
    for (const [name, text] of await documents()) {
      for (const [, target = ''] of text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)) {
        if (/^https?:/.test(target)) continue;
        const there = await stat(join(root, dirname(name), target)).catch(() => undefined);
        expect(there, `${name} -> ${target}`).toBeDefined();
      }
    }
  });

  it('names every package in the readme', async () => {
    const readme = (await documents()).get('README.md') ?? '';
    for (const folder of ['apps', 'packages']) {
      for (const name of await readdir(join(root, folder))) expect(readme).toContain(`(${folder}/${name})`);
    }
  });

  it('names every variable of the environment, with the default in force', async () => {
    const text = (await documents()).get('docs/configuration.md') ?? '';
    const defaults: Record<string, unknown> = Environment.parse({});
    for (const variable of Object.keys(Environment.shape)) {
      expect(text, variable).toContain(`\`${variable}\``);
      const documented = documentedDefault(text, variable);
      if (documented === undefined || defaults[variable] === undefined) continue;
      const isNone = Array.isArray(defaults[variable]) && defaults[variable].length === 0;
      expect(documented, variable).toBe(isNone ? 'none' : String(defaults[variable]));
    }
  });
});
