import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { WorkToolName } from '../../packages/contracts/src/index.ts';
import { createFileTools } from '../../packages/tools/src/index.ts';
import { makeWorkspace } from './support.ts';

describe('createFileTools', () => {
  it('makes the read-only tools that are named, always in the same order', async () => {
    await using ws = await makeWorkspace();
    const names = (...chosen: WorkToolName[]) =>
      createFileTools(ws.workspace, chosen).map((tool) => tool.name);
    expect(names('search_files', 'list_files', 'read_file')).toEqual([
      'read_file',
      'list_files',
      'search_files',
    ]);
    expect(names('search_files', 'run_command')).toEqual(['search_files']);
    expect(names()).toEqual([]);
  });

  it('publishes closed schemas that a model can be given', async () => {
    await using ws = await makeWorkspace();
    for (const tool of createFileTools(ws.workspace, WorkToolName.options)) {
      expect(tool.readOnly).toBe(true);
      expect(z.toJSONSchema(tool.inputSchema, { io: 'input' })).toMatchObject({
        type: 'object',
        additionalProperties: false,
      });
      expect(tool.description.length).toBeGreaterThan(100);
    }
  });
});
