import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { nanoUsdOf, type PriceFile, parsePriceFile, type WorstPrice, worstPriceOf } from '@crewboard/agent';
import {
  CrewboardError,
  type Environment,
  type JobLimits,
  type JobSpec,
  type NewTask,
  NO_USAGE,
  type Usage,
} from '@crewboard/contracts';
import type { Provider } from './settings.ts';

/** What model calls of one provider cost. Undefined: nobody has priced the model. */
export interface Prices {
  /** Of a call with this usage, in nano-USD. */
  nanoUsdOf(model: string, usage: Usage): number | undefined;
  worstPriceOf(model: string, inputTokens: number, maxTokens: number): WorstPrice | undefined;
}

const FREE: Prices = {
  nanoUsdOf: () => 0,
  worstPriceOf: () => ({ inputNanoUsd: 0, outputNanoUsd: 0 }),
};

/** The prices of a provider: the simulated one asks for nothing. */
export function pricesOf(provider: Provider, file: PriceFile): Prices {
  if (provider === 'simulated') return FREE;
  return {
    nanoUsdOf: (model, usage) => nanoUsdOf(model, usage, file),
    worstPriceOf: (model, inputTokens, maxTokens) => worstPriceOf(model, inputTokens, maxTokens, file),
  };
}

/** Reads the price file of CREWBOARD_PRICE_FILE; none is an empty one. Throws `invalid_argument` saying what is wrong. */
export function readPriceFile({ CREWBOARD_PRICE_FILE: path }: Environment, cwd: string): PriceFile {
  if (path === undefined) return {};
  try {
    return parsePriceFile(readFileSync(resolve(cwd, path), 'utf8'));
  } catch (error) {
    const why = error instanceof CrewboardError ? error.detail : `it can't be opened (${String(error)})`;
    throw new CrewboardError('invalid_argument', `CREWBOARD_PRICE_FILE names ${path}: ${why}`);
  }
}

/** How a model without a price is refused where money is limited. */
export function unpriced(model: string): string {
  return `nobody has priced the model "${model}", so a budget in USD can't be kept: add its price to the file of CREWBOARD_PRICE_FILE, or take budgetUsd out`;
}

/** A model that a job may call, and whether its calls fall under a cap in USD. */
interface Called {
  model: string;
  path: string;
  isCapped: boolean;
}

/** The models of a job as a whole: its lead's if it has one, and the one of tasks that name none. */
export function modelsOfJob(
  { goal, models }: Pick<JobSpec, 'goal' | 'models'>,
  limits: Pick<JobLimits, 'budgetUsd'>,
): Called[] {
  const isCapped = limits.budgetUsd !== undefined;
  const worker = { model: models.worker, path: 'models.worker', isCapped };
  return goal === undefined ? [worker] : [{ model: models.lead, path: 'models.lead', isCapped }, worker];
}

/** The models that tasks call, `models.worker` where they name none. */
export function modelsOf(
  tasks: readonly Pick<NewTask, 'executor' | 'model' | 'limits'>[],
  worker: string,
  limits: Pick<JobLimits, 'budgetUsd'>,
  pathOf: (index: number) => string = (i) => `tasks[${i}].model`,
): Called[] {
  return tasks.flatMap(({ executor = 'agent', model, limits: own }, i) =>
    executor === 'agent'
      ? [
          {
            model: model ?? worker,
            path: model === undefined ? 'models.worker' : pathOf(i),
            isCapped: limits.budgetUsd !== undefined || own?.budgetUsd !== undefined,
          },
        ]
      : [],
  );
}

/** Refuses a model under a cap in USD that nobody has priced: `invalid_argument`. */
export function refuseUnpriced(prices: Prices, called: readonly Called[]): void {
  const lacking = called.find(
    ({ isCapped, model }) => isCapped && prices.nanoUsdOf(model, NO_USAGE) === undefined,
  );
  if (lacking === undefined) return;
  const { model, path } = lacking;
  throw new CrewboardError('invalid_argument', unpriced(model), {
    path,
    example: { [model]: { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25 } },
  });
}
