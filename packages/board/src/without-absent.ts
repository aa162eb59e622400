/** A copy without the keys whose value is undefined, so that answers hold only what is known. */
export function withoutAbsent<T extends object>(value: T): T;
export function withoutAbsent(value: Record<string, unknown>): Record<string, unknown> {
  const present: Record<string, unknown> = {};
  for (const key in value) if (value[key] !== undefined) present[key] = value[key];
  return present;
}
