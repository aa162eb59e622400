/** The deepest nesting of arrays and objects in anything that a model sends: deeper values break readers of JSON. */
export const MAX_DEPTH = 100;

/** True when arrays and objects in `value` are nested more than {@link MAX_DEPTH} deep. Depth costs no stack. */
export function isTooDeep(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; depth <= MAX_DEPTH; depth++) {
    const containers = level.filter((each) => typeof each === 'object' && each !== null);
    if (containers.length === 0) return false;
    level = containers.flatMap((container) => Object.values(container));
  }
  return true;
}

const TOO_DEEP = `nested deeper than ${MAX_DEPTH} levels`;

/** Stands for a value that was left out. */
export const DEEP_VALUE = `[left out: ${TOO_DEEP}]`;

/** The member of the input that stands for a call's whole input when that was too deep. */
const DEEP_INPUT_KEY = 'INPUT_TOO_DEEP';
export const DEEP_INPUT = { [DEEP_INPUT_KEY]: DEEP_VALUE };

/** True for an input that is too deep, or that was and is stood for. */
export function wasTooDeep(input: unknown): boolean {
  const isStandIn = typeof input === 'object' && input !== null && Object.hasOwn(input, DEEP_INPUT_KEY);
  return isStandIn || isTooDeep(input);
}
