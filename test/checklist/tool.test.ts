import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createTodoWriteTool, isTodoTool } from '../../packages/checklist/src/index.ts';
import { recordingChecklist, todo } from './support.ts';

const SOURCES = join(import.meta.dirname, '../../packages/checklist/src');

describe('the tool', () => {
  it('is one tool with one name, or its older alias [row 71] [row 97] [row 89] [row 91] [row 101]', () => {
    expect(recordingChecklist().tool).toMatchObject({
      name: 'todo_write',
      readOnly: false,
      idempotent: true,
    });
    expect(recordingChecklist({ name: 'TodoWrite' }).tool.name).toBe('TodoWrite');
    expect(['todo_write', 'TodoWrite', 'todo_read', 'todo_add'].map(isTodoTool)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it('publishes a strict schema that follows the configuration [row 22] [row 24]', () => {
    const { tool } = recordingChecklist({ maxItems: 7 });
    const { $schema: _, ...schema } = z.toJSONSchema(tool.inputSchema);
    expect(schema).toEqual({
      type: 'object',
      properties: {
        todos: {
          type: 'array',
          maxItems: 7,
          items: {
            type: 'object',
            properties: {
              content: { type: 'string', minLength: 1, maxLength: 500 },
              status: { type: 'string', enum: ['pending', 'in_progress', 'completed'] },
            },
            required: ['content', 'status'],
            additionalProperties: false,
          },
        },
      },
      required: ['todos'],
      additionalProperties: false,
    });
    const classic = JSON.stringify(
      z.toJSONSchema(recordingChecklist({ profile: 'classic' }).tool.inputSchema),
    );
    expect(classic).toContain('activeForm');
  });

  it('says how it is used, and the parallel rule as it is set [row 77] [row 90] [row 109] [row 111]', () => {
    const text = recordingChecklist({ allowParallelInProgress: true }).tool.description;
    for (const rule of [
      'replaces the old one',
      'before complex work',
      'skip it for a single step or a trivial request',
      'to completed at once when it is done, then go on to the next',
      'never batch completions',
      'imperative',
    ]) {
      expect(text).toContain(rule);
    }
    expect(text).toContain('Several todos may be in_progress');
    const serial = recordingChecklist({ allowParallelInProgress: false }).tool.description;
    expect(serial).toContain('At most one todo may be in_progress');
    expect(serial).not.toContain('Several');
    expect(recordingChecklist({ profile: 'classic' }).tool.description).toContain('progressive');
  });

  it('can not be made without the parallel rule, nor with a senseless cap [row 110] [row 115]', () => {
    const make = (options: object) => () =>
      // @ts-expect-error what a program in plain JavaScript could pass
      createTodoWriteTool({ onUpdate: () => {}, ...options });
    expect(make({})).toThrow(/allowParallelInProgress must be set/);
    expect(make({ allowParallelInProgress: 'yes' })).toThrow(/allowParallelInProgress must be set/);
    expect(make({ allowParallelInProgress: true, maxItems: 0 })).toThrow(/maxItems/);
    expect(make({ allowParallelInProgress: true })).not.toThrow();
  });

  it('can not be made with a word that it does not know', () => {
    const make = (options: object) => () =>
      createTodoWriteTool({ onUpdate: () => {}, allowParallelInProgress: true, ...options });
    const refused = (detail: string) => expect.objectContaining({ code: 'invalid_argument', detail });
    expect(make({ locale: 'fr' })).toThrow(refused('locale must be one of en, zh'));
    expect(make({ profile: 'weird' })).toThrow(refused('profile must be one of strict, classic'));
    expect(make({ name: 'foo' })).toThrow(refused('name must be one of todo_write, TodoWrite'));
    expect(make({ normalizeCase: 'yes' })).toThrow(refused('normalizeCase must be true or false'));
    expect(make({ onUpdate: undefined })).toThrow(refused('onUpdate must be a function'));
    expect(make({ locale: undefined, profile: undefined, name: undefined })).not.toThrow();
  });

  it('keeps nothing itself: two tools never see each other [row 50] [row 83] [row 98]', async () => {
    const one = recordingChecklist();
    const other = recordingChecklist();
    await one.write({ todos: [todo('mine')] });
    await other.write({ todos: [todo('theirs')] });
    expect(one.updates).toEqual([[todo('mine')]]);
    expect(other.updates).toEqual([[todo('theirs')]]);
  });

  it('waits for the store, and passes its failure on', async () => {
    const failing = recordingChecklist({ onUpdate: () => Promise.reject(new Error('the store is away')) });
    await expect(failing.write({ todos: [] })).rejects.toThrow('the store is away');
  });

  it('has no power over files, commands, network or code [row 2] [row 27] [row 88]', () => {
    const sources = readdirSync(SOURCES).map((file) => readFileSync(join(SOURCES, file), 'utf8'));
    const imports = sources.flatMap((source) =>
      [...source.matchAll(/from '([^']+)'/g)].map(([, name]) => name),
    );
    const outside = new Set(imports.filter((name) => !name?.startsWith('./')));
    expect([...outside].sort()).toEqual(['@crewboard/contracts', 'zod']);
    expect(sources.join('\n')).not.toMatch(/\beval\b|new Function|\bfetch\(|import\(|globalThis|process\./);
  });
});
