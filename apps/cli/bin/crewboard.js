#!/usr/bin/env node
import { existsSync, realpathSync } from 'node:fs';
import module from 'node:module';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/**
 * Starts the CLI in this process: from TypeScript source in a checkout, so that `npx crewboard` works right
 * after `npm ci`; from `dist` when installed as a package, which has no source, and in a checkout whose development
 * dependencies were pruned, tsx with them.
 */
const here = dirname(realpathSync(fileURLToPath(import.meta.url)));
const source = join(here, '../src/main.ts');
const isInstalled = here.split(sep).includes('node_modules') || !existsSync(source);

/** What compiles the source; undefined where it is not to be had. */
async function findCompiler() {
  if (isInstalled) return undefined;
  try {
    return await import('tsx/esm/api');
  } catch (error) {
    if (error.code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

const compiler = await findCompiler();
if (compiler === undefined) {
  await import('../dist/main.js');
} else {
  // The caller's tsconfig.json (any working directory) must not change how our source is read.
  compiler.register({ tsconfig: false });
  module.register('./source-condition.js', import.meta.url);
  await import(pathToFileURL(source).href);
}
