import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { JobResult, type ResultLine } from '@crewboard/contracts';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { CLI, startProcess } from '../cli/support/processes.ts';
import { API_KEY, EXAMPLES, type LocalStack, openLocalStack } from '../support/local-stack.ts';
import { wcWords } from './support/wc-words.ts';

// Two jobs of 41 tasks each with a CLI of their own: seconds on a free machine, more on a busy one.
vi.setConfig({ testTimeout: 120_000 });

const CANARY = 'canary-9d1f7c6a';
const LINK_OUT = 'link out.md';
const LINK_IN = 'link in.md';
const run = promisify(execFile);
const Failed = z.object({ code: z.number(), stdout: z.string(), stderr: z.string() });

/** 38 files of every kind that people have; two links make it 40. */
const FILES: Record<string, string | Buffer> = {
  'empty.md': '',
  'only a newline.md': '\n',
  'blanks.md': ' \t\r\n \u3000\u00a0 ',
  'large.md': `# Large\n\n${'One line of it, with [a link](x.md).\n'.repeat(6000)}`,
  'one line.md': `# Long\n${'word '.repeat(30_000)}end`,
  'crlf.md': '# Title\r\n\r\nTwo words\r\n\r\n```\r\ncode\r\n```\r\n',
  'old mac.md': '# Title\rnext line\rlast',
  'latin1.md': Buffer.from('# Caf\xe9\n\nd\xe9j\xe0 vu\n', 'latin1'),
  'utf16.md': Buffer.from('\ufeff# Sixteen bits\n', 'utf16le'),
  'nul.md': Buffer.from('a\0b \0 c\n'),
  'binary.md': Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 31) % 256)),
  'bom.md': '\ufeff# With a mark\n\nthree words here',
  'cut emoji.md': Buffer.from('# 🙂 end').subarray(0, 5),
  'replacement.md': '� alone, \ufffd again\n',
  '😀 smile.md': '# 😀\n\n👩‍👩‍👧 🙂 family\n',
  '读我.md': '# 读我\n\n你好世界\u3000再见\n',
  'русский.md': '# Заголовок\n\nдва слова\n',
  'e\u0301.md': '# Composed of two\n',
  '\u00e9.md': '# Composed of one\n',
  'with space.md': '# With space\n',
  ' leading and trailing .md': '# Blanks\n',
  "it's.md": "# It's\n",
  'say "hi".md': '# Say\n',
  'back\\slash.md': '# Back\n',
  'new\nline.md': '# Line\n',
  'tab\tbed.md': '# Tab\n',
  '-rf.md': '# Dash\n',
  '$HOME `id`.md': '# Shell\n',
  '[a]{b}*?.md': '# Glob\n',
  '#hash?query%20.md': '# URL\n',
  '\u202egnp.md': '# Bidi\n',
  'no title.md': 'just text\n',
  'title.MD.md': '# [Linked](a.md) **title** #\n',
  '.hidden.md': '# Hidden\n',
  'sub/deep/er/page.md': '# Deep\n\n- [x](y)\n',
  'sub/same.md': '# Same\n',
  'same.md': '# Same\n',
  [`${'long '.repeat(45)}.md`]: '# Long name\n',
};

async function makeFolder() {
  const root = await mkdtemp(join(tmpdir(), 'crewboard-folder-'));
  const workspace = join(root, 'pages');
  for (const [name, content] of Object.entries(FILES)) {
    await mkdir(dirname(join(workspace, name)), { recursive: true });
    await writeFile(join(workspace, name), content);
  }
  await writeFile(join(root, 'secret.md'), `# ${CANARY}\n`);
  await symlink('../secret.md', join(workspace, LINK_OUT));
  await symlink('sub/deep/er/page.md', join(workspace, LINK_IN));
  // Neither Markdown nor to be read: they must not show up either.
  await writeFile(join(workspace, '.env'), CANARY);
  await writeFile(join(workspace, 'notes.txt'), CANARY);
  return {
    root,
    workspace,
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
}

const PageFacts = z.object({ file: z.string(), title: z.string(), words: z.number(), headings: z.number() });
const Output = z.object({
  pages: z.array(PageFacts),
  totals: z.object({ pages: z.number(), words: z.number() }),
});

async function resultsOf(stack: LocalStack, jobId: string): Promise<ResultLine[]> {
  const lines: ResultLine[] = [];
  for await (const line of stack.client.jobs.results(jobId)) lines.push(line);
  return lines;
}

test('`crewboard run` over a folder of odd files accounts for each of them, truly, and reads nothing outside', async () => {
  await using folder = await makeFolder();
  await using stack = await openLocalStack({ workspaces: [folder.root] });
  await using cli = startProcess(
    [CLI, 'run', join(EXAMPLES, 'docs-review.json'), '--workspace', folder.workspace, '--json'],
    { cwd: folder.root, env: { CREWBOARD_URL: stack.url, CREWBOARD_API_KEY: API_KEY } },
  );
  const result = JobResult.parse(await cli.ready);
  expect(await cli.ended).toBe(1);
  expect(result.status).toBe('partial');

  const files = [...Object.keys(FILES), LINK_IN].sort();
  const lines = await resultsOf(stack, result.jobId);
  const pages = lines.filter(({ title }) => title.startsWith('Review '));
  expect(pages).toHaveLength(40);
  const [out, ...others] = pages.filter(({ status }) => status !== 'completed');
  expect(others).toEqual([]);
  expect(out).toMatchObject({
    key: `page:${LINK_OUT}`,
    status: 'failed',
    failure: { class: 'model', reason: expect.stringContaining(`${LINK_OUT} leaves the workspace`) },
  });
  // The fortieth page and the task that combines them.
  expect(result.counts).toMatchObject({ total: 41, completed: 40, failed: 1, cancelled: 0, pending: 0 });

  const { pages: told, totals } = Output.parse(result.output);
  expect(told.map(({ file }) => file).sort()).toEqual(files);
  const facts = lines.flatMap(({ output }) => PageFacts.safeParse(output).data ?? []);
  expect(facts.map(({ file }) => file).sort()).toEqual(files);
  for (const { file, words } of facts) {
    const real = wcWords(join(folder.workspace, file));
    if (real !== undefined) expect({ file, words }).toEqual({ file, words: real });
  }
  expect(totals).toMatchObject({ pages: 39, words: facts.reduce((sum, { words }) => sum + words, 0) });
  expect(result.summary).toContain(`1 failed: Review ${LINK_OUT}`);

  const outputs = { redis: await stack.dump(), logs: stack.logged(), stderr: cli.stderr() };
  // What agents did read stands there, so what they must not read would be found.
  expect(outputs.redis).toContain('你好世界');
  for (const [place, text] of Object.entries({ ...outputs, results: JSON.stringify([result, lines]) })) {
    expect(text.length, place).toBeGreaterThan(0);
    expect(text.includes(CANARY), `what stands outside is in ${place}`).toBe(false);
  }
  const events = [];
  for await (const event of stack.client.jobs.events(result.jobId)) events.push(event);
  expect(JSON.stringify(events)).not.toContain(CANARY);
  expect(events.at(-1)?.type).toBe('job.partial');
});

test('`crewboard run` tells people what failed and why, on a terminal that titles can not move', async () => {
  await using folder = await makeFolder();
  await using stack = await openLocalStack({ workspaces: [folder.root] });
  const args = [CLI, 'run', join(EXAMPLES, 'docs-review.json'), '--workspace', folder.workspace];
  const env = { CREWBOARD_URL: stack.url, CREWBOARD_API_KEY: API_KEY };
  const ended: unknown = await run(process.execPath, args, { cwd: folder.root, env }).catch((error) => error);
  const { code, stdout, stderr } = Failed.parse(ended);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^failed #\d+ Review link out\.md: link out\.md leaves the workspace/m);
  expect(stdout).toMatch(/Job job_\w+ partial: 40 of 41 tasks completed, 1 failed\. SIMULATED/);
  expect(stdout).toContain('\\u202egnp.md');
  expect(`${stdout}${stderr}`).not.toContain('\u202e');
});
