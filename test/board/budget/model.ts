/** What a budget must do, in a few lines: a list of calls, and sums over it. */

export interface ModelCall {
  id: string;
  task: number;
  attempt: number;
  state: 'reserved' | 'estimated' | 'settled';
  nano: number;
  tokens: number;
}

export interface Request {
  inputNano: number;
  outputNano: number;
  inputTokens: number;
  maxTokens: number;
  isPatient: boolean;
}

export type Answer = { kind: 'reserved'; maxTokens: number } | { kind: 'busy' } | { kind: 'exhausted' };

const LEAST = 1024;

/** How much output fits into what is left of a cap. */
function output(left: number, input: number, each: number, wanted: number): number {
  if (left < input) return -1;
  return each === 0 ? wanted : Math.min(wanted, Math.floor((left - input) / each));
}

export class BudgetModel {
  calls: ModelCall[] = [];
  /** Attempts that failed, as `task:attempt`; tasks that are lost. */
  failed = new Set<string>();
  caps: { nano: number; tokens: number };
  taskCaps: readonly number[];

  constructor(caps: { nano: number; tokens: number }, taskCaps: readonly number[]) {
    this.caps = caps;
    this.taskCaps = taskCaps;
  }

  sum(field: 'nano' | 'tokens', states: readonly ModelCall['state'][], task?: number): number {
    return this.calls
      .filter((call) => states.includes(call.state) && (task === undefined || call.task === task))
      .reduce((sum, call) => sum + call[field], 0);
  }

  wasted(): number {
    return this.calls
      .filter((call) => call.state === 'settled' && this.failed.has(`${call.task}:${call.attempt}`))
      .reduce((sum, call) => sum + call.nano, 0);
  }

  #limits(task: number, request: Request) {
    const { inputNano, outputNano, inputTokens } = request;
    return [
      { cap: this.caps.nano, field: 'nano', task: undefined, input: inputNano, each: outputNano },
      { cap: this.caps.tokens, field: 'tokens', task: undefined, input: inputTokens, each: 1 },
      { cap: this.taskCaps[task] ?? 0, field: 'nano', task, input: inputNano, each: outputNano },
    ] as const;
  }

  answer(task: number, request: Request): Answer {
    const least = Math.min(LEAST, request.maxTokens);
    let maxTokens = request.maxTokens;
    let isBusy = false;
    for (const { cap, field, task: of, input, each } of this.#limits(task, request)) {
      if (cap === 0) continue;
      const spent = this.sum(field, ['settled', 'estimated'], of);
      const open = this.sum(field, ['reserved'], of);
      const now = output(cap - spent - open, input, each, request.maxTokens);
      const later = output(cap - spent, input, each, request.maxTokens);
      if (later < least) return { kind: 'exhausted' };
      if (now < least || (request.isPatient && now < later)) isBusy = true;
      maxTokens = Math.min(maxTokens, now);
    }
    return isBusy ? { kind: 'busy' } : { kind: 'reserved', maxTokens };
  }

  end(task: number, attempt: number, isFailure: boolean): void {
    if (isFailure) this.failed.add(`${task}:${attempt}`);
    for (const call of this.calls) {
      if (call.task === task && call.attempt === attempt && call.state === 'reserved')
        call.state = 'estimated';
    }
  }
}
