import { writeFile } from 'node:fs/promises';
import { CrewboardError } from '@crewboard/contracts';
import { makingTrouble } from './file-trouble.ts';

/** Writes `text` to a new file. Throws `invalid_argument` for a path where none can be made. */
export async function writeNewFile(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { flag: 'wx' });
  } catch (error) {
    const reason = makingTrouble(error, path);
    if (reason === undefined) throw error;
    throw new CrewboardError('invalid_argument', reason, {}, { cause: error });
  }
}
