import {
  BoardNoteInput,
  CrewboardError,
  NewTask,
  parseEnvironment,
  renderBoard,
  type Task,
} from '@crewboard/contracts';
import {
  createDeleteJob,
  createEventHub,
  createFileArchiveStore,
  createService,
  type KeyCalls,
  type Scope,
  type Service,
  settingsFrom,
} from '@crewboard/orchestrator';
import { createFileArtifactStore } from '@crewboard/tools';
import { describe, expect, it } from 'vitest';
import { textColumns } from '../../packages/contracts/src/shown-text.ts';
import { ANN, openBoardFixture } from '../support/board.ts';

/** What people and models really put into titles and notes. */
const TEXTS: Record<string, string> = {
  'line breaks': 'first\nsecond\r\nthird\u2028fourth\u0085fifth',
  'terminal sequences': '\u001b[2J\u001b]0;owned\u0007\u009b31mred\b\b',
  'bidi controls': 'user\u202etxt.exe \u2066isolated\u2069 \u200fmark\u061c',
  'hidden characters': '\u200bzero\ufeffwidth\u2060 \u{e0049}\u{e0067}\u{e006e} soft\u00adhyphen',
  'emoji sequences': '👨‍👩‍👧‍👦 👩🏽‍🚀 🏴󠁧󠁢󠁷󠁬󠁳󠁿 🇨🇭 1️⃣ ❤️',
  'Arabic and Persian': 'مرحبا بالعالم می‌خواهم ۱۲۳',
  'wide characters': '漢字テスト 한국어 ｆｕｌｌ',
  'stacked accents': `z${'\u0301'.repeat(80)}a`,
  'an HTML element': '<img src=x onerror=alert(1)> &amp; <script>',
  Markdown: '# [click](https://evil.example) ![x](y) **b** `c` | @ann #12 www.evil.example\n- [x] done',
  'Redis and Lua': "'; redis.call('FLUSHALL') -- %s $1 {job} \\0",
  'a template': '$\u007bprocess.env} {{title}} %n',
  'its own kind': 't_abcd2345 task.completed {"v":1}',
};
const REFUSED: Record<string, string> = {
  NUL: 'a\u0000b',
  'a lone high surrogate': 'a\ud83d',
  'a lone low surrogate': '\ude00b',
  'nothing but blanks': ' \t\n\u3000',
  '200 KB': 'x'.repeat(200_000),
};

/** What a renderer must never let through, apart from the line feeds that end its lines. */
function unsafeIn(text: string): string[] {
  const found = text.replaceAll('\n', '').match(/[\p{Cc}\p{Bidi_Control}\u200b\u2060-\u2064\ufeff]/gu);
  return found ?? [];
}

describe('a text', () => {
  it.each(Object.entries(TEXTS))('with %s is stored exactly as it was sent', async (_, text) => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const task = NewTask.parse({
      key: text,
      title: text,
      instructions: text,
      input: { [text]: [text] },
      acceptance: [{ id: 'one', text }],
    });
    const note = BoardNoteInput.parse({ taskId: 't_abcd2345', text, progress: text });
    const { jobId } = await board.job([task]);
    const { tasks } = await boards.page(jobId, { after: 0, limit: 10, full: true });
    expect(tasks).toMatchObject([task]);
    const held = await board.claim(jobId, tasks[0]?.id ?? '', text);
    expect(held.task).toMatchObject({ ...task, owner: { id: text } });
    await boards.note(held.hold, 'r1', note.text, { progress: note.progress });
    const result = {
      summary: text,
      output: text,
      artifacts: [],
      evidence: [{ kind: 'statement', text } as const],
    };
    await boards.submit(held.hold, text, held.task.version, result);
    const stored = await boards.task(jobId, held.task.id);
    expect(stored).toMatchObject({ progress: text, result: { summary: text, output: text } });
    expect(stored.evidence).toEqual([{ kind: 'statement', text }]);
    const events = await boards.events(jobId, '0-0', 100);
    expect(events.find(({ type }) => type === 'task.noted')?.data).toEqual({ text, progress: text });
    expect((await boards.snapshot(jobId)).tasks[0]?.title).toBe(text);
    // The same key with the same content is the same task, whatever is in it.
    await expect(boards.add(jobId, { tasks: [task], by: ANN, maxAttempts: 3 })).rejects.toMatchObject({
      code: 'terminal',
    });
  });

  it.each(Object.entries(REFUSED))('that is %s is refused as a title, a key and a note', (_, text) => {
    expect(NewTask.safeParse({ title: text }).success).toBe(false);
    expect(NewTask.safeParse({ title: 'x', key: text }).success).toBe(false);
    expect(NewTask.safeParse({ title: 'x', labels: [text] }).success).toBe(false);
    expect(BoardNoteInput.safeParse({ taskId: 't_abcd2345', text }).success).toBe(false);
  });

  it.each(Object.entries(REFUSED).filter(([name]) => !name.includes('blanks')))(
    'that is %s is refused as instructions and inside an input',
    (_, text) => {
      expect(NewTask.safeParse({ title: 'x', instructions: text }).success).toBe(false);
      expect(NewTask.safeParse({ title: 'x', input: { deep: [text] } }).success).toBe(false);
      expect(NewTask.safeParse({ title: 'x', input: { [text]: 1 } }).success).toBe(false);
    },
  );

  it.each(Object.entries(TEXTS))(
    'with %s is rendered on its line alone, without a control',
    async (_, text) => {
      await using board = await openBoardFixture();
      const { jobId, ids } = await board.job([{ title: text }, { title: 'Next' }]);
      await board.claim(jobId, ids[text] ?? '', text);
      const snapshot = { ...(await board.boards.snapshot(jobId)), title: text };
      const plain = renderBoard(snapshot, { format: 'plain', width: 90 });
      expect(unsafeIn(plain)).toEqual([]);
      const lines = plain.split('\n');
      expect(lines).toHaveLength(4);
      for (const line of [lines[0], lines[2], lines[3]])
        expect(textColumns(line ?? '')).toBeLessThanOrEqual(90);
      expect(lines[2]?.startsWith('[>] #1 ')).toBe(true);
      const markdown = renderBoard(snapshot, { format: 'markdown' });
      expect(unsafeIn(markdown)).toEqual([]);
      expect(markdown.split('\n')).toHaveLength(6);
      expect(markdown).not.toMatch(/(?<!\\)[<>`]|(?<!\\)\]\(|(?<!\\):\/\/|(?<!\\)@/);
      const ansi = renderBoard(snapshot, { format: 'ansi' });
      const marks = ['\u001b[33m▶\u001b[0m', '\u001b[90m☐\u001b[0m'];
      for (const mark of marks) expect(ansi.split(mark)).toHaveLength(2);
      expect(unsafeIn(marks.reduce((text, mark) => text.replace(mark, ''), ansi))).toEqual([]);
    },
  );
});

/** Every call of the service that names a job. */
type JobCall = Exclude<keyof Service, 'submitJob' | 'dryRunJob' | 'listJobs' | 'ready' | keyof KeyCalls>;
type Call = (service: Service, scope: Scope, jobId: string, taskId: string) => Promise<unknown>;

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const TOKEN = { claimToken: '1-secret', requestId: 'r1' };
const CALLS: Record<JobCall, Call> = {
  getJob: (service, scope, jobId) => service.getJob(scope, jobId),
  cancelJob: (service, scope, jobId) => service.cancelJob(scope, jobId, 'mine'),
  pauseJob: (service, scope, jobId) => service.pauseJob(scope, jobId, 'mine'),
  resumeJob: (service, scope, jobId) => service.resumeJob(scope, jobId, 'mine'),
  editJob: (service, scope, jobId) =>
    service.editJob(scope, jobId, { version: 1, limits: { maxParallel: 1 } }),
  startJob: (service, scope, jobId) => service.startJob(scope, jobId),
  deleteJob: (service, scope, jobId) => service.deleteJob(scope, jobId),
  listTasks: (service, scope, jobId) => service.listTasks(scope, jobId, {}),
  getTask: (service, scope, jobId, taskId) => service.getTask(scope, jobId, taskId),
  addTasks: (service, scope, jobId) => service.addTasks(scope, jobId, [{ title: 'Mine' }]),
  listEvents: (service, scope, jobId) => service.listEvents(scope, jobId),
  followEvents: (service, scope, jobId) =>
    all(service.followEvents(scope, jobId, {}, AbortSignal.timeout(1000))),
  isCaughtUp: (service, scope, jobId) => service.isCaughtUp(scope, jobId, '0-0'),
  getResult: (service, scope, jobId) => service.getResult(scope, jobId),
  resultLines: (service, scope, jobId) => all(service.resultLines(scope, jobId)),
  listArtifacts: (service, scope, jobId) => service.listArtifacts(scope, jobId, {}),
  findArtifact: (service, scope, jobId) => service.findArtifact(scope, jobId, 'report.md'),
  sendMessage: (service, scope, jobId) => service.sendMessage(scope, jobId, { text: 'mine' }),
  approvePlan: (service, scope, jobId) => service.approvePlan(scope, jobId, {}),
  rejectPlan: (service, scope, jobId) => service.rejectPlan(scope, jobId, {}),
  claimTask: (service, scope, jobId, taskId) =>
    service.claimTask(scope, jobId, { taskId, owner: { kind: 'external', id: 'thief' } }),
  heartbeatTask: (service, scope, jobId, taskId) => service.heartbeatTask(scope, jobId, taskId, TOKEN),
  noteTask: (service, scope, jobId, taskId) =>
    service.noteTask(scope, jobId, taskId, { ...TOKEN, text: 'mine' }),
  submitTask: (service, scope, jobId, taskId) =>
    service.submitTask(scope, jobId, taskId, { ...TOKEN, version: 1, summary: 'mine' }),
  blockTask: (service, scope, jobId, taskId) =>
    service.blockTask(scope, jobId, taskId, { ...TOKEN, kind: 'external', reason: 'mine' }),
  failTask: (service, scope, jobId, taskId) =>
    service.failTask(scope, jobId, taskId, { ...TOKEN, reason: 'mine' }),
  releaseTask: (service, scope, jobId, taskId) => service.releaseTask(scope, jobId, taskId, TOKEN),
  rerunTasks: (service, scope, jobId) => service.rerunTasks(scope, jobId, { where: { key: '*' } }),
  editTask: (service, scope, jobId, taskId) =>
    service.editTask(scope, jobId, taskId, { version: 1, title: 'mine' }),
  decideTask: (service, scope, jobId, taskId) =>
    service.decideTask(scope, jobId, taskId, { decision: 'approve', version: 1 }),
  cancelTask: (service, scope, jobId, taskId) =>
    service.cancelTask(scope, jobId, taskId, { version: 1, reason: 'mine' }),
  reopenTask: (service, scope, jobId, taskId) =>
    service.reopenTask(scope, jobId, taskId, { action: 'reopen', version: 1, reason: 'mine' }),
  listAttempts: (service, scope, jobId, taskId) => service.listAttempts(scope, jobId, taskId, {}),
  readTranscript: (service, scope, jobId, taskId) => service.readTranscript(scope, jobId, taskId, {}),
  explainTask: (service, scope, jobId, taskId) => service.explainTask(scope, jobId, taskId),
};

/** The service over a board store of the test's own. */
async function openService() {
  const board = await openBoardFixture();
  const { redis, prefix } = board.store;
  const variables = { CREWBOARD_PREFIX: prefix, ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' };
  const settings = settingsFrom(parseEnvironment(variables), process.cwd());
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const hub = createEventHub(redis.duplicate(), board.boards, silent);
  const artifacts = createFileArtifactStore('/nowhere/artifacts');
  const archives = createFileArchiveStore('/nowhere/archive');
  const deleteJob = createDeleteJob({ boards: board.boards, archives, artifacts });
  return {
    board,
    service: createService({ boards: board.boards, redis, hub, settings, artifacts, deleteJob }),
    async [Symbol.asyncDispose]() {
      hub.close();
      await board[Symbol.asyncDispose]();
    },
  };
}

const RED: Scope = { project: 'red', caller: 'rita' };
const BLUE: Scope = { project: 'blue', caller: 'bob' };
const EVERYTHING: Scope = { project: '*', caller: 'root' };
const JOB = { tasks: [{ key: 'a', title: 'A' }] };

describe('two projects', () => {
  it.each(Object.entries(CALLS))('never meet in %s: a foreign job does not exist', async (_, call) => {
    await using opened = await openService();
    const { service, board } = opened;
    const { id } = await service.submitJob(RED, JOB);
    const task: Task | undefined = (await service.listTasks(RED, id, {})).tasks[0];
    const before = await board.boards.events(id, '0-0', 100);
    const foreign = await call(service, BLUE, id, task?.id ?? '').catch((error: unknown) => error);
    const absent = await call(service, BLUE, 'job_zzzzzzzzzzzz', task?.id ?? '').catch(
      (error: unknown) => error,
    );
    expect(foreign).toBeInstanceOf(CrewboardError);
    expect(foreign).toMatchObject({ code: 'not_found' });
    // Nothing tells that there is such a job at all.
    const withoutId = (error: unknown) =>
      JSON.stringify(error, ['code', 'detail']).replaceAll(id, 'job_zzzzzzzzzzzz');
    expect(withoutId(foreign)).toBe(withoutId(absent));
    expect(await board.boards.events(id, '0-0', 100)).toEqual(before);
  });

  it('list their own jobs only, and may use the same Idempotency-Key', async () => {
    await using opened = await openService();
    const { service } = opened;
    const red = await service.submitJob(RED, JOB, 'same');
    const blue = await service.submitJob(BLUE, JOB, 'same');
    expect(red.id).not.toBe(blue.id);
    expect(await service.submitJob(RED, JOB, 'same')).toEqual(red);
    const ids = async (scope: Scope) => (await service.listJobs(scope, {})).jobs.map(({ id }) => id);
    expect(await ids(RED)).toEqual([red.id]);
    expect(await ids(BLUE)).toEqual([blue.id]);
    expect((await ids(EVERYTHING)).sort()).toEqual([red.id, blue.id].sort());
  });
});

describe('two boards', () => {
  it('share keys and numbers without ever seeing each other', async () => {
    await using board = await openBoardFixture();
    const { boards } = board;
    const [one, two] = [await board.job(JOB.tasks), await board.job(JOB.tasks)];
    const [a, b] = [one.ids.a ?? '', two.ids.a ?? ''];
    const held = await board.claim(one.jobId, a);
    expect((await boards.task(two.jobId, b)).status).toBe('pending');
    await expect(boards.task(two.jobId, a)).rejects.toMatchObject({ code: 'not_found' });
    const foreign = { ...held.hold, jobId: two.jobId };
    await expect(boards.heartbeat(foreign, 1000)).rejects.toMatchObject({ code: 'not_found' });
    await expect(boards.heartbeat({ ...foreign, taskId: b }, 1000)).rejects.toMatchObject({
      code: 'not_owner',
    });
    const dependsOn = { tasks: [{ title: 'B', dependsOn: [a] }], by: ANN, maxAttempts: 3 };
    await expect(boards.add(two.jobId, dependsOn)).rejects.toMatchObject({ code: 'unknown_dependency' });
    const types = async (jobId: string) => (await boards.events(jobId, '0-0', 100)).map(({ type }) => type);
    expect(await types(one.jobId)).toContain('task.claimed');
    expect(await types(two.jobId)).not.toContain('task.claimed');
  });
});
