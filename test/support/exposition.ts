/** One number of a scrape. */
export interface ScrapedSample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** A scrape, read by the rules of Prometheus' text format 0.0.4. */
export interface Exposition {
  samples: ScrapedSample[];
  types: ReadonlyMap<string, string>;
  /** The sum of all samples of this name with at least these labels. */
  sum(name: string, labels?: Readonly<Record<string, string>>): number;
}

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\["\\n])*)"(?:,|$)/y;

function parseLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < text.length) {
    const at = LABEL.lastIndex;
    const found = LABEL.exec(text);
    if (found === null) throw new Error(`not labels: ${text.slice(at)}`);
    const [, name = '', value = ''] = found;
    if (name in labels) throw new Error(`the label ${name} twice: ${text}`);
    labels[name] = value.replace(/\\(.)/g, (_, char: string) => (char === 'n' ? '\n' : char));
  }
  return labels;
}

const seriesOf = ({ name, labels }: ScrapedSample) =>
  `${name}${JSON.stringify(Object.entries(labels).sort())}`;

/** The names of samples that a family of this type may have. */
function namesOf(family: string, type: string): string[] {
  if (type === 'histogram') return [`${family}_bucket`, `${family}_sum`, `${family}_count`];
  return type === 'summary' ? [family, `${family}_sum`, `${family}_count`] : [family];
}

/** Throws where the buckets of a histogram do not grow, or do not end with all of it. */
function checkHistogram(family: string, samples: readonly ScrapedSample[]): void {
  const last = new Map<string, number>();
  const keyOf = ({ labels: { le: _, ...rest } }: ScrapedSample) =>
    JSON.stringify(Object.entries(rest).sort());
  for (const sample of samples.filter(({ name }) => name === `${family}_bucket`)) {
    const before = last.get(keyOf(sample)) ?? 0;
    if (sample.value < before) throw new Error(`buckets of ${family} go down`);
    last.set(keyOf(sample), sample.value);
  }
  for (const sample of samples.filter(({ name }) => name === `${family}_count`)) {
    if (last.get(keyOf(sample)) !== sample.value) throw new Error(`buckets of ${family} lack some`);
  }
}

/** Throws where a name of ours is not as Prometheus' conventions have it. */
function checkName(family: string, type: string): void {
  if (!family.startsWith('crewboard_')) return;
  if ((type === 'counter') !== family.endsWith('_total')) throw new Error(`${family} is a ${type}`);
  if (/_(ms|millis|minutes|kb|mb)(_|$)/.test(family)) throw new Error(`${family} is in no base unit`);
}

/** Parses a scrape. Throws where it is not what Prometheus takes, or a name is not by its conventions. */
export function parseExposition(text: string): Exposition {
  if (!text.endsWith('\n')) throw new Error('the last line has no end');
  const types = new Map<string, string>();
  const samples: ScrapedSample[] = [];
  const series = new Set<string>();
  let current = { family: '', type: '', hasHelp: '' };
  for (const line of text.slice(0, -1).split('\n')) {
    const [, word, family = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (word === 'HELP') {
      if (types.has(family)) throw new Error(`${family} twice`);
      current = { family, type: '', hasHelp: family };
    } else if (word === 'TYPE') {
      if (current.hasHelp !== family) throw new Error(`${family} without help`);
      checkName(family, rest);
      types.set(family, rest);
      current.type = rest;
    } else {
      const [, name = '', labels = '', value = ''] = SAMPLE.exec(line) ?? [];
      if (!namesOf(current.family, current.type).includes(name)) throw new Error(`out of place: ${line}`);
      const number = value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value);
      if (Number.isNaN(number)) throw new Error(`no number: ${line}`);
      const sample = { name, labels: parseLabels(labels), value: number };
      if (series.has(seriesOf(sample))) throw new Error(`twice: ${line}`);
      series.add(seriesOf(sample));
      samples.push(sample);
    }
  }
  for (const [family, type] of types) if (type === 'histogram') checkHistogram(family, samples);
  return {
    samples,
    types,
    sum: (name, labels = {}) =>
      samples
        .filter((sample) => sample.name === name)
        .filter((sample) => Object.entries(labels).every(([label, is]) => sample.labels[label] === is))
        .reduce((total, { value }) => total + value, 0),
  };
}
