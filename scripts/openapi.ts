import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { documentText } from '../test/support/openapi.ts';

/** Writes docs/openapi.json from the route table: `npm run openapi`. */
const file = fileURLToPath(new URL('../docs/openapi.json', import.meta.url));
await writeFile(file, documentText());
