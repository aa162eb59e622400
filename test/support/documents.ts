import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A fenced block of shell commands. */
export interface ShellBlock {
  /** Of its first command, from 1. */
  line: number;
  text: string;
  /** Why a test can't run it, from the comment `<!-- not run: why -->` above it. */
  notRun?: string;
}

/** Returns the names of all pages, README first, relative to the repository. */
export async function documentNames(): Promise<string[]> {
  const pages = (await readdir(join(ROOT, 'docs'))).filter((name) => name.endsWith('.md')).sort();
  const packages = (await readdir(join(ROOT, 'packages'))).sort();
  const readmes = await Promise.all(
    packages.map(async (name) =>
      (await readdir(join(ROOT, 'packages', name))).includes('README.md')
        ? [`packages/${name}/README.md`]
        : [],
    ),
  );
  return ['README.md', ...pages.map((name) => `docs/${name}`), ...readmes.flat()];
}

/** Returns the text of a page. */
export function readDocument(name: string): Promise<string> {
  return readFile(join(ROOT, name), 'utf8');
}

/** Returns the blocks of a page that are marked `sh` or `bash`, in order. */
export function shellBlocks(text: string): ShellBlock[] {
  const block = /^(?:<!-- not run: (?<why>[^\n]+?) -->\n+)?```(?:sh|bash)\n(?<commands>[\s\S]*?)^```$/gm;
  return [...text.matchAll(block)].map((match) => {
    const { why, commands = '' } = match.groups ?? {};
    const above = text.slice(0, match.index + match[0].indexOf('```'));
    return {
      line: above.split('\n').length + 1,
      text: commands,
      ...(why === undefined ? {} : { notRun: why }),
    };
  });
}
