import { mkdir, rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { DEFAULT_LIMITS, type JobSpec, newJobId, parseEnvironment } from '@crewboard/contracts';
import { expect, it } from 'vitest';
import { settingsFrom } from '../../packages/orchestrator/src/settings.ts';
import { createJobTools } from '../../packages/orchestrator/src/work-tools.ts';
import { openTestFolder } from '../cli/support/folder.ts';

function specOf(path: string): JobSpec {
  return {
    v: 1,
    id: newJobId(),
    project: 'default',
    title: 'A job',
    models: { lead: 'none', worker: 'none' },
    limits: DEFAULT_LIMITS,
    allowParallelInProgress: true,
    tools: ['read_file'],
    workspace: { path },
    provider: 'anthropic',
    createdBy: 'test',
  };
}

it.each(['itself', 'the folder above it'])(
  'a workspace is refused when %s has become a link since the submit',
  async (which) => {
    await using folder = await openTestFolder();
    const path = join(folder.path, 'all', 'one');
    await mkdir(path, { recursive: true });
    await mkdir(join(folder.path, 'elsewhere', 'one'), { recursive: true });
    const tools = createJobTools(settingsFrom(parseEnvironment({}), folder.path, 'host'));
    expect((await tools.toolsOf(specOf(path))).map(({ name }) => name)).toEqual(['read_file']);

    const replaced = which === 'itself' ? path : join(folder.path, 'all');
    await rename(replaced, `${replaced}.away`);
    await symlink(join(folder.path, 'elsewhere', which === 'itself' ? 'one' : ''), replaced);
    const refusal = { code: 'forbidden', detail: expect.stringContaining('replaced by a link') };
    await expect(tools.toolsOf(specOf(path))).rejects.toMatchObject(refusal);
    await expect(tools.runnerOf(specOf(path))).rejects.toMatchObject(refusal);
  },
);
