#!/usr/bin/env node
import { existsSync, realpathSync } from 'node:fs';
import module from 'node:module';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/**
 * Starts the CLI in this process: from TypeScript source in a checkout, so that `npx crewboard` works right
 * after `npm ci`; from `dist` when installed as a package (source below node_modules is never compiled).
 */
const here = dirname(realpathSync(fileURLToPath(import.meta.url)));
const source = join(here, '../src/main.ts');
const isInstalled = here.split(sep).includes('node_modules');

if (isInstalled || !existsSync(source)) {
  await import('../dist/main.js');
} else {
  // The caller's tsconfig.json (any working directory) must not change how our source is read.
  const { register } = await import('tsx/esm/api');
  register({ tsconfig: false });
  module.register('./source-condition.js', import.meta.url);
  await import(pathToFileURL(source).href);
}
