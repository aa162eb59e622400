/** Returns the `headers` of a response by what they say; nothing where there are none. */
export function headersOf(headers: Readonly<Record<string, string>>): object {
  const entries = Object.entries(headers).map(
    ([name, description]) => [name, { description, schema: { type: 'string' } }] as const,
  );
  return entries.length === 0 ? {} : { headers: Object.fromEntries(entries) };
}
