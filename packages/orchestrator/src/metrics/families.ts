import { z } from 'zod';

const NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

/** One number of a metric. */
const Sample = z.object({
  // JSON has no NaN: what is not known comes as null.
  value: z.number().nullable(),
  labels: z.record(z.string().regex(NAME), z.union([z.string().max(300), z.number()])).default({}),
  /** Of a histogram's parts: `<name>_bucket` and the like. */
  metricName: z.string().regex(NAME).optional(),
});

/** A metric with all of its samples, in the form of prom-client. */
export const Family = z.object({
  name: z.string().regex(NAME),
  help: z.string().max(500),
  type: z.enum(['counter', 'gauge', 'histogram', 'summary']),
  values: z.array(Sample),
});
export type Family = z.infer<typeof Family>;

/** Returns a gauge of one or more samples. */
export function gauge(name: string, help: string, values: Family['values']): Family {
  return { name: `crewboard_${name}`, help, type: 'gauge', values };
}

/** The same families, every sample marked as one of `instance`. */
export function ofInstance(instance: string, families: readonly Family[]): Family[] {
  return families.map((family) => ({
    ...family,
    values: family.values.map((sample) => ({ ...sample, labels: { ...sample.labels, instance } })),
  }));
}

const escaped = (text: string) =>
  text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');

function lineOf(name: string, { value, labels, metricName = name }: z.infer<typeof Sample>): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(String(text))}"`);
  const among = pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
  return `${metricName}${among} ${value}`;
}

/**
 * Writes families in the text format of Prometheus 0.0.4. Families of one name are one block, with the help of the
 * first; those whose type is another one than the first's (of another version) are left out, as are unknown values.
 */
export function renderFamilies(families: readonly Family[]): string {
  const blocks = new Map<string, { family: Family; lines: string[] }>();
  for (const family of families) {
    const block = blocks.get(family.name) ?? { family, lines: [] };
    blocks.set(family.name, block);
    if (block.family.type !== family.type) continue;
    for (const sample of family.values) {
      if (sample.value !== null && !Number.isNaN(sample.value)) block.lines.push(lineOf(family.name, sample));
    }
  }
  return [...blocks.values()]
    .filter(({ lines }) => lines.length > 0)
    .map(({ family: { name, help, type }, lines }) => {
      const about = help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
      return `# HELP ${name} ${about}\n# TYPE ${name} ${type}\n${lines.join('\n')}\n`;
    })
    .join('');
}
