import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type DependencyRef, JobBody, type NewTask } from '../../packages/contracts/src/index.ts';

const examples = fileURLToPath(new URL('../../examples/', import.meta.url));

async function readJob(name: string): Promise<JobBody> {
  return JobBody.parse(JSON.parse(await readFile(join(examples, name), 'utf8')));
}

async function pages(): Promise<string[]> {
  const names = await readdir(join(examples, 'docs'), { recursive: true });
  return names.filter((name) => name.endsWith('.md')).sort();
}

const nameOf = (ref: DependencyRef) => (typeof ref === 'string' ? ref : ref.task);
const conditionOf = (ref: DependencyRef) => (typeof ref === 'string' ? 'completed' : ref.condition);

/** Every task that `task` needs, directly or not. */
function needs(tasks: readonly NewTask[], task: NewTask): Set<string> {
  const found = new Set<string>();
  const pending = (task.dependsOn ?? []).map(nameOf);
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (found.has(name)) continue;
    found.add(name);
    pending.push(...(tasks.find(({ key }) => key === name)?.dependsOn ?? []).map(nameOf));
  }
  return found;
}

describe('job files', () => {
  it('are all valid, with a workspace that is there', async () => {
    const files = (await readdir(examples)).filter((name) => name.endsWith('.json'));
    expect(files.sort()).toEqual(['commands.json', 'docs-review.json', 'given-plan.json', 'map.json']);
    for (const file of files) {
      const { workspace } = await readJob(file);
      expect((await stat(resolve(examples, workspace?.path ?? 'none'))).isDirectory(), file).toBe(true);
    }
  });

  it('commands.json needs no model', async () => {
    const { goal, tasks = [] } = await readJob('commands.json');
    expect(goal).toBeUndefined();
    expect(tasks.map(({ executor }) => executor)).toEqual(tasks.map(() => 'command'));
  });

  it('docs-review.json is a goal without tasks', async () => {
    const job = await readJob('docs-review.json');
    expect(job.goal).toContain('**/*.md');
    expect(job.tasks).toBeUndefined();
  });

  it('map.json looks at pages that exist', async () => {
    const { map } = await readJob('map.json');
    const paths = map?.items.map((item) =>
      item !== null && typeof item === 'object' ? Object.values(item) : [],
    );
    expect(await pages()).toEqual(expect.arrayContaining(paths?.flat() ?? ['none']));
  });

  it('given-plan.json is a graph without cycles, with a diamond and settled edges, over pages that exist', async () => {
    const { goal, tasks = [] } = await readJob('given-plan.json');
    expect(goal).toBeUndefined();
    expect(tasks.length).toBeGreaterThanOrEqual(8);
    expect(new Set(tasks.map(({ key }) => key)).size).toBe(tasks.length);
    for (const task of tasks) {
      const needed = needs(tasks, task);
      expect(needed.has(task.key ?? ''), `${task.key} needs itself`).toBe(false);
      for (const name of needed)
        expect(
          tasks.some(({ key }) => key === name),
          name,
        ).toBe(true);
    }
    const diamond = tasks.find(({ key }) => key === 'locking');
    expect(diamond?.dependsOn).toEqual(['board', 'tasks']);
    for (const side of ['board', 'tasks']) {
      expect(tasks.find(({ key }) => key === side)?.dependsOn).toEqual(['glossary']);
    }
    expect(tasks.flatMap(({ dependsOn = [] }) => dependsOn.map(conditionOf))).toContain('settled');
    const inputs = tasks.flatMap(({ input }) => {
      const isPage = typeof input === 'object' && input !== null && 'path' in input;
      return isPage ? [String(input.path)] : [];
    });
    expect(await pages()).toEqual(expect.arrayContaining(inputs));
  });
});

describe('pages of the example', () => {
  it('are at least twelve of 250 to 700 words', async () => {
    const names = await pages();
    expect(names.length).toBeGreaterThanOrEqual(12);
    for (const name of names) {
      const words = (await readFile(join(examples, 'docs', name), 'utf8'))
        .split(/\s+/)
        .filter(Boolean).length;
      expect(words, name).toBeGreaterThanOrEqual(250);
      expect(words, name).toBeLessThanOrEqual(700);
    }
  });

  it('link only to pages that exist, and are all reached from the first', async () => {
    const linked = new Map<string, string[]>();
    for (const name of await pages()) {
      const text = await readFile(join(examples, 'docs', name), 'utf8');
      const targets = [...text.matchAll(/\]\(([^)]+\.md)\)/g)].map(([, target = '']) =>
        join(dirname(name), target),
      );
      linked.set(name, targets);
    }
    const reached = new Set<string>();
    const pending = ['README.md'];
    for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
      if (reached.has(name)) continue;
      expect(linked.has(name), `${name} is linked to but missing`).toBe(true);
      reached.add(name);
      pending.push(...(linked.get(name) ?? []));
    }
    expect([...reached].sort()).toEqual(await pages());
  });
});
