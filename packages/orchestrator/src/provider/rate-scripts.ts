import { readFileSync } from 'node:fs';
import { type Keyspace, prepareScript, type RedisClient } from '@crewboard/board';
import type { Provider } from '../settings.ts';

/** One model of one provider: what a brake, a limit or a circuit is of. */
export interface ModelName {
  provider: Provider;
  model: string;
}

/** How many of a model's keys a script is passed; prelude.lua names them in this order. */
const KEYS = ['state', 'slots', 'tickets', 'failing', 'watched', 'parked', 'paused'] as const;
const SCRIPTS = {
  admit: 3,
  report: 5,
  renew: 2,
  verdict: 5,
  take_probe: 7,
  end_probe: 7,
  register_parked: 7,
  register_paused: 7,
  to_wake: 7,
  forget: 7,
} as const satisfies Record<string, number>;

export type RateScript = keyof typeof SCRIPTS;
export type RunRateScript = (
  name: RateScript,
  model: ModelName,
  args: readonly (string | number)[],
) => Promise<unknown>;

const MODELS_REMEMBERED = 1000;
const folder = new URL('../../src/provider/lua/', import.meta.url);
const readLua = (name: string) => readFileSync(new URL(`${name}.lua`, folder), 'utf8');

/** The set of models that have something to look after, as {@link nameOfModel} gives them. */
export const watchedKey = (keys: Keyspace) => keys.global('rate:watched');

export const nameOfModel = ({ provider, model }: ModelName) => `${provider} ${model}`;

/** Parses what {@link nameOfModel} made. */
export function modelOfName(name: string): { provider: string; model: string } {
  const at = name.indexOf(' ');
  return { provider: name.slice(0, at), model: name.slice(at + 1) };
}

function keysOfModel(keys: Keyspace, name: string): string[] {
  return KEYS.map((key) => (key === 'watched' ? watchedKey(keys) : keys.global(`rate:${key}:${name}`)));
}

/** Prepares the scripts of the governor. All keys of all models share the slot of the prefix. */
export function prepareRateScripts(redis: RedisClient, keys: Keyspace): RunRateScript {
  const prelude = readLua('prelude');
  const prepare = (name: RateScript) => prepareScript(redis, `${prelude}\n${readLua(name)}`);
  const scripts: Record<RateScript, ReturnType<typeof prepareScript>> = {
    admit: prepare('admit'),
    report: prepare('report'),
    renew: prepare('renew'),
    verdict: prepare('verdict'),
    take_probe: prepare('take_probe'),
    end_probe: prepare('end_probe'),
    register_parked: prepare('register_parked'),
    register_paused: prepare('register_paused'),
    to_wake: prepare('to_wake'),
    forget: prepare('forget'),
  };
  const known = new Map<string, string[]>();
  const keysFor = (model: ModelName): string[] => {
    const name = nameOfModel(model);
    const found = known.get(name) ?? keysOfModel(keys, name);
    if (known.size >= MODELS_REMEMBERED) known.clear();
    known.set(name, found);
    return found;
  };
  return (name, model, args) => scripts[name](keysFor(model).slice(0, SCRIPTS[name]), args);
}
