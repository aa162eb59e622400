import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TestFolder extends AsyncDisposable {
  path: string;
}

/** Makes a folder of the test's own; disposing removes it. */
export async function openTestFolder(): Promise<TestFolder> {
  const path = await mkdtemp(join(tmpdir(), 'crewboard-test-cli-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 3 }) };
}
