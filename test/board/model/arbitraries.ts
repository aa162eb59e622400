import fc from 'fast-check';
import type { AddCommand, Command, PatchCommand, Scenario } from './commands.ts';
import type { Settings } from './state.ts';

/** Generators of scenarios; everything shrinks towards fewer commands and smaller picks. */

const pick = fc.nat({ max: 15 });
const rarely = fc.boolean().chain((first) => (first ? fc.boolean() : fc.constant(false)));
const stale = fc.oneof(
  { weight: 7, arbitrary: fc.constant(false) },
  { weight: 1, arbitrary: fc.constant(true) },
);
/** Mostly a request of its own; else one of the last few again. */
const request = fc.oneof(
  { weight: 6, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.nat({ max: 3 }) },
);
const lease = fc.oneof(
  { weight: 3, arbitrary: fc.constant('long' as const) },
  { weight: 1, arbitrary: fc.constant('short' as const) },
);
const delay = fc.oneof(
  { weight: 3, arbitrary: fc.constant('none' as const) },
  { weight: 1, arbitrary: fc.constantFrom('soon' as const, 'far' as const) },
);
const edge = fc.record({
  pick,
  condition: fc.constantFrom('completed' as const, 'completed' as const, 'settled' as const),
});
const edges = fc.oneof(fc.array(edge, { maxLength: 0 }), fc.array(edge, { maxLength: 3 }));
const onLost = fc.constantFrom('hold' as const, 'hold' as const, 'cancel' as const);
const executor = fc.constantFrom('agent' as const, 'agent' as const, 'agent' as const, 'external' as const);

const add: fc.Arbitrary<AddCommand> = fc.record({
  key: fc.oneof(fc.constant(null), fc.nat({ max: 2 })),
  title: fc.constantFrom('A' as const, 'A' as const, 'B' as const),
  on: edges,
  onLost,
  priority: fc.nat({ max: 4 }),
  executor,
  maxAttempts: fc.constantFrom(null, null, 1, 2),
  replaces: fc
    .option(pick, { freq: 5, nil: null })
    .map((some) => (some !== null && some % 3 > 0 ? null : some)),
});

const patch: fc.Arbitrary<PatchCommand> = fc.record(
  {
    title: fc.constant('C'),
    priority: fc.nat({ max: 4 }),
    executor,
    maxAttempts: fc.integer({ min: 1, max: 4 }),
    onLost,
    on: edges,
    replaces: pick,
  },
  { requiredKeys: [] },
);

const proof = {
  pick,
  proof: fc.oneof(
    { weight: 8, arbitrary: fc.constant('current' as const) },
    { weight: 1, arbitrary: fc.constant('any' as const) },
    { weight: 1, arbitrary: fc.constant('foreign' as const) },
  ),
  request,
};

const change = (parts: { adds?: number; edits?: number; cancels?: number; reopens?: number }) =>
  fc.record({
    do: fc.constant('change' as const),
    asLead: rarely,
    request,
    adds: fc.array(add, { maxLength: parts.adds ?? 0, minLength: parts.adds === undefined ? 0 : 1 }),
    edits: fc.array(fc.record({ stale, pick, patch }), { maxLength: parts.edits ?? 0 }),
    cancels: fc.array(fc.record({ stale, pick, cascade: fc.boolean() }), { maxLength: parts.cancels ?? 0 }),
    reopens: fc.array(fc.record({ stale, pick }), { maxLength: parts.reopens ?? 0 }),
  });

const failure = fc.constantFrom(
  ...(['model', 'model', 'check', 'timeout', 'infra', 'infra', 'cancelled', 'budget'] as const),
);
const blockKind = fc.constantFrom(...(['needs_input', 'external', 'dependency', 'dependency'] as const));

const held: [number, fc.Arbitrary<Command>][] = [
  [
    2,
    fc.record({
      do: fc.constant('heartbeat'),
      ...proof,
      lease: fc.constantFrom('short' as const, 'long' as const, 'same' as const),
    }),
  ],
  [2, fc.record({ do: fc.constant('note'), ...proof })],
  [
    3,
    fc.record({
      do: fc.constant('journal'),
      ...proof,
      entry: fc.constantFrom('reply' as const, 'started' as const, 'result' as const, 'start' as const),
    }),
  ],
  [
    8,
    fc.record({
      do: fc.constant('submit'),
      ...proof,
      stale,
      // biome-ignore format: one line reads as weights
      to: fc.constantFrom(...(['complete', 'complete', 'complete', 'checks', 'checks', 'review'] as const)),
    }),
  ],
  [
    4,
    fc.record({
      do: fc.constant('fail'),
      ...proof,
      class: failure,
      retryable: fc.constantFrom(true, true, true, false),
      delay,
    }),
  ],
  [2, fc.record({ do: fc.constant('release'), ...proof })],
  [2, fc.record({ do: fc.constant('park'), ...proof, delay, strikes: fc.constantFrom(0, 2, 3) })],
  [3, fc.record({ do: fc.constant('block'), ...proof, kind: blockKind, on: pick })],
  [2, fc.record({ do: fc.constant('propose'), ...proof, new: add })],
];

const ofPeople: [number, fc.Arbitrary<Command>][] = [
  [4, change({ adds: 3 })],
  [4, change({ edits: 2 })],
  [3, change({ cancels: 2 })],
  [4, change({ reopens: 2 })],
  [
    3,
    fc.record({
      do: fc.constant('rerun'),
      tasks: fc.array(fc.record({ stale, pick }), { maxLength: 4 }),
      request,
    }),
  ],
  [1, change({ adds: 2, edits: 2, cancels: 1, reopens: 1 })],
  [
    5,
    fc.record({
      do: fc.constant('resolve'),
      asLead: rarely,
      pick,
      accept: fc.boolean(),
      wrong: stale,
      stale,
      request,
    }),
  ],
  [0.5, fc.record({ do: fc.constant('pause'), cause: fc.constantFrom('user' as const, 'stall' as const) })],
  [
    2,
    fc.record({
      do: fc.constant('resume'),
      cause: fc.constantFrom(null, null, null, 'user' as const, 'stall' as const),
    }),
  ],
];

const ofHarness: [number, fc.Arbitrary<Command>][] = [
  [
    8,
    fc.record({
      do: fc.constant('claim'),
      who: fc.nat({ max: 3 }),
      pick: fc.option(pick, { freq: 6, nil: null }),
      request,
      lease,
    }),
  ],
  [
    16,
    fc.record({
      do: fc.constant('deliver'),
      pick: fc.nat({ max: 5 }),
      who: fc.nat({ max: 1 }),
      lease,
      forget: fc.constantFrom(true, true, false),
    }),
  ],
  [4, fc.record({ do: fc.constant('sweep') })],
  [3, fc.record({ do: fc.constant('startChecks'), pick, lease })],
  [3, fc.record({ do: fc.constant('endChecks'), pick, stale, passed: fc.boolean(), delay })],
];

const ofLead: [number, fc.Arbitrary<Command>][] = [
  [3, fc.record({ do: fc.constant('tell'), pick })],
  [5, fc.record({ do: fc.constant('wait'), pick, request })],
  [2, fc.record({ do: fc.constant('finish'), pick, request, waive: fc.boolean() })],
  [
    1,
    fc.record({
      do: fc.constant('leadEnds'),
      pick,
      how: fc.constantFrom('release' as const, 'fail' as const, 'park' as const),
      delay,
      request,
    }),
  ],
];

/** The end of a whole job is rare, or most runs would be about nothing else. */
const cancelJob: fc.Arbitrary<Command> = fc.record({ do: fc.constant('cancelJob') });

const weighted = (list: [number, fc.Arbitrary<Command>][]) =>
  fc.oneof(...list.map(([weight, arbitrary]) => ({ weight: weight * 4, arbitrary })), {
    weight: 1,
    arbitrary: cancelJob,
  });

function settings(lead: boolean): fc.Arbitrary<Settings> {
  const some = fc.record({
    lead: fc.constant(lead),
    maxParallel: fc.constantFrom(1, 2, 4, 8),
    allowParallel: fc.constantFrom(true, true, true, false),
    maxTasks: fc.constantFrom(8, 12),
    maxAttempts: fc.constantFrom(2, 3, 3),
    maxLeadRuns: fc.constantFrom(1, 2, 50),
    coalesce: fc.boolean(),
  });
  const slices = fc.constantFrom({}, {}, { slice: 1 }, { slice: 1 }, { slice: 2 });
  return fc.tuple(some, slices).map(([given, slice]) => ({ ...given, ...slice }));
}

/**
 * Scenarios of at most `most` commands and at least half of that: short ones meet little. What fails is made smaller by
 * minimise.ts.
 */
export function scenarios(most: number): fc.Arbitrary<Scenario> {
  return fc.boolean().chain((lead) =>
    fc.record({
      settings: settings(lead),
      tasks: fc.array(add, { minLength: lead ? 0 : 2, maxLength: 6 }),
      commands: fc.array(weighted([...held, ...ofPeople, ...ofHarness, ...(lead ? ofLead : [])]), {
        minLength: Math.floor(most / 2),
        maxLength: most,
        size: 'max',
      }),
    }),
  );
}
