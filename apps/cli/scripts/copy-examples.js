import { cp, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** Part of the build: puts the job files and what they read beside the built CLI, so that the package has them. */
const from = fileURLToPath(new URL('../../../examples/', import.meta.url));
const to = fileURLToPath(new URL('../dist/examples/', import.meta.url));

await rm(to, { recursive: true, force: true });
await cp(from, to, { recursive: true, filter: (path) => !path.endsWith('.ts') });
