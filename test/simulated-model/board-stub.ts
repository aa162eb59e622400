import { BoardPlanInput } from '../../packages/contracts/src/index.ts';
import { opening, refused, type ToolCall, taskIdOf } from './conversations.ts';

const TOOLS = [
  'board_plan',
  'board_list',
  'board_get',
  'board_wait',
  'finish_job',
  'list_files',
  'submit_plan',
];

export function leadRequest(
  goal = 'Review every page.',
  job: object = { workspace: true, tasks: 0 },
  maxTokens?: number,
) {
  return opening(TOOLS, `<goal>\n${goal}\n</goal>\n<job>\n${JSON.stringify(job)}\n</job>`, maxTokens);
}

interface BoardTask {
  taskId: string;
  key: string;
  status: string;
  dependsOn: { task: string }[];
}

/** The board as the lead sees it: enough to accept plans, list, and settle all when it waits. */
export class BoardStub {
  readonly tasks: BoardTask[] = [];
  readonly files: string[];

  constructor(files: string[]) {
    this.files = files;
  }

  counts() {
    const of = (status: string) => this.tasks.filter((task) => task.status === status).length;
    return {
      total: this.tasks.length,
      pending: of('pending'),
      in_progress: of('in_progress'),
      completed: of('completed'),
      failed: of('failed'),
      cancelled: of('cancelled'),
      ready: of('pending'),
    };
  }

  add(ops: { key: string; dependsOn?: { task: string }[] }[]) {
    const created: Record<string, string> = {};
    for (const { key, dependsOn = [] } of ops) {
      const known = this.tasks.find((task) => task.key === key);
      for (const { task } of dependsOn) {
        if (!this.tasks.some((other) => other.key === task)) throw refused('unknown_dependency', task);
      }
      const taskId = known?.taskId ?? taskIdOf(this.tasks.length + 1);
      if (known === undefined) this.tasks.push({ taskId, key, status: 'pending', dependsOn });
      created[key] = taskId;
    }
    return { created, changed: [], warnings: [] };
  }

  settle(failedKey?: string) {
    for (const task of this.tasks) task.status = task.key === failedKey ? 'failed' : 'completed';
    return { news: [], counts: this.counts(), allSettled: true };
  }

  list({ label, cursor }: Record<string, unknown>) {
    const shown = label === 'combine' ? this.tasks.filter(({ key }) => key === 'combine') : this.tasks;
    const from = Number(cursor ?? 0);
    const next = from + 50 < shown.length ? { nextCursor: String(from + 50) } : {};
    return { counts: this.counts(), tasks: shown.slice(from, from + 50), ...next };
  }

  get(combine: object) {
    return { task: { status: 'completed', result: { summary: 'combined', output: combine, artifacts: [] } } };
  }

  listFiles() {
    return [`${this.files.length} files`, ...this.files.map((path) => `${path}\t10\tbytes`)].join('\n');
  }
}

export const COMBINED = { pages: [{ file: 'a.md', words: 3 }], totals: { pages: 1, words: 3 }, failed: [] };

export function worker(board: BoardStub, special: (call: ToolCall) => unknown = () => undefined) {
  return (call: ToolCall) => {
    const answer = special(call);
    if (answer !== undefined) return answer;
    switch (call.name) {
      case 'list_files':
        return board.listFiles();
      case 'board_plan': {
        const { ops } = BoardPlanInput.parse(call.input);
        return board.add(ops.map((op) => Object(op)));
      }
      case 'board_list':
        return board.list(call.input);
      case 'board_get':
        return board.get(COMBINED);
      case 'board_wait':
        return board.settle();
      default:
        throw new Error(`unexpected call of ${call.name}`);
    }
  };
}
