import fc from 'fast-check';
import { type AgentOutcome, createModelCall, runAgent } from '../../packages/agent/src/index.ts';
import type { ContentBlock, Tool } from '../../packages/contracts/src/index.ts';
import { encodeEvent, streamEvents } from '../../packages/simulated-model/src/index.ts';
import { memoryJournal } from '../support/memory-journal.ts';
import { checkRequest, type SentReply } from '../support/messages-rules.ts';
import { LIMITS, recordingTool } from './support.ts';

/** One answer of a random model: a whole stream, or what is left of one. */
interface Wild {
  content: ContentBlock[];
  stopReason: string;
  /** How the answer goes wrong on its way; `fine` for not at all. */
  way: 'fine' | 'cut' | 'no-json' | 'odd-event' | 'error-event' | 'silence' | 'reset' | number;
  at: number;
}

const TURNS_MOST = 8;
const TRIES = 3;
const RETRY_MS = 5000;

const dirty = fc.constantFrom('ok', 'one\ntwo', '', '  ', '\ud800x', 'a\u0000b', '👩‍👩‍👧', '</task>');
const value: fc.Arbitrary<unknown> = fc.oneof(
  dirty,
  fc.integer(),
  fc.constant(null),
  fc.constant([]),
  fc.constant({}),
);
const id = fc.nat({ max: 60 }).map((n) => `c${n}`);
const tools = ['look', 'throw', 'hang', 'change', 'submit', 'nothing'];

const goodBlock: fc.Arbitrary<ContentBlock> = fc.oneof(
  fc.record({ type: fc.constant('text'), text: dirty }),
  fc.record({ type: fc.constant('thinking'), thinking: fc.constant('hm'), signature: fc.constant('sig') }),
  fc.record({ type: fc.constant('redacted_thinking'), data: fc.constant('opaque') }),
  fc.record({ type: fc.constant('from_the_future'), nested: value }),
  fc.record({
    type: fc.constant('tool_use'),
    id,
    name: fc.constantFrom(...tools),
    input: fc.record({ a: value, ok: fc.boolean() }),
  }),
);
const badBlock: fc.Arbitrary<ContentBlock> = fc.oneof(
  fc.record({ type: fc.constant('tool_use'), id: value, name: value, input: value }),
  fc.record({ type: fc.constantFrom('', 'tool_result', 'image'), content: value }),
  fc.record({ type: fc.constant('thinking'), thinking: fc.constant('\ud800'), signature: fc.constant('s') }),
);
const wild: fc.Arbitrary<Wild> = fc.record({
  content: fc.array(fc.oneof({ weight: 12, arbitrary: goodBlock }, { weight: 1, arbitrary: badBlock }), {
    maxLength: 5,
  }),
  stopReason: fc.constantFrom(
    'tool_use',
    'tool_use',
    'tool_use',
    'end_turn',
    'max_tokens',
    'pause_turn',
    'refusal',
    'model_context_window_exceeded',
    'stop_sequence',
    'from_the_future',
  ),
  way: fc.oneof(
    { weight: 8, arbitrary: fc.constant('fine' as const) },
    { weight: 1, arbitrary: fc.constantFrom('cut', 'no-json', 'odd-event', 'error-event', 'reset') },
    { weight: 1, arbitrary: fc.constantFrom(529, 500, 429, 400, 401, 413) },
  ),
  at: fc.nat({ max: 12 }),
});

const USAGE = {
  input_tokens: 10,
  output_tokens: 1,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
};

function eventsOf({ content, stopReason, way, at }: Wild): string[] {
  const message = { id: 'msg_1', model: 'claude-test', content, stopReason, usage: USAGE };
  const events = streamEvents(message).map(encodeEvent);
  const cutAt = Math.min(at, events.length - 1);
  if (way === 'cut' || way === 'reset') return events.slice(0, cutAt);
  if (way === 'no-json') return [...events.slice(0, cutAt), 'event: content_block_delta\ndata: {"half\n\n'];
  if (way === 'odd-event')
    return events.toSpliced(cutAt, 0, 'event: odd\ndata: {"type":"odd","index":-1}\n\n');
  if (way !== 'error-event') return events;
  const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
  return [...events.slice(0, cutAt), `event: error\ndata: ${JSON.stringify(error)}\n\n`];
}

function answer(reply: Wild): Response {
  if (typeof reply.way === 'number') {
    const body = { type: 'error', error: { type: 'api_error', message: 'wild' } };
    return new Response(JSON.stringify(body), { status: reply.way });
  }
  const encoder = new TextEncoder();
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const event of eventsOf(reply)) controller.enqueue(encoder.encode(event));
      if (reply.way === 'reset') controller.error(new Error('connection reset'));
      else controller.close();
    },
  });
  return new Response(stream, { headers: { 'content-type': 'text/event-stream' } });
}

function fuzzTools(): Tool[] {
  return [
    recordingTool([], { name: 'look', answer: (input) => ({ content: JSON.stringify(input) }) }),
    recordingTool([], { name: 'throw', answer: () => Promise.reject(new Error('thrown \ud800')) }),
    recordingTool([], { name: 'hang', timeoutMs: 1, answer: () => new Promise(() => {}) }),
    recordingTool([], { name: 'change', readOnly: false, answer: { content: '' } }),
    recordingTool([], {
      name: 'submit',
      readOnly: false,
      endsAttempt: true,
      answer: (input) =>
        JSON.stringify(input).includes('"ok":true')
          ? { content: '', end: { kind: 'done' } }
          : { content: 'not ok', isError: true },
    }),
  ];
}

function clean(given: unknown): unknown {
  if (typeof given === 'string') return given.toWellFormed().replaceAll('\u0000', '\ufffd');
  if (Array.isArray(given)) return given.map(clean);
  if (typeof given !== 'object' || given === null) return given;
  return Object.fromEntries(Object.entries(given).map(([key, inner]) => [key, clean(inner)]));
}

/**
 * A call as it may come back: what is no object goes back as an object that holds it, for the API takes only those. No
 * input, and null, are streamed as an empty object.
 */
function asCall(block: ContentBlock): ContentBlock {
  if (block.type !== 'tool_use') return block;
  const input = block.input ?? {};
  if (typeof input === 'object' && !Array.isArray(input)) return { ...block, input };
  const streamed = typeof input === 'string' ? input : JSON.stringify(input);
  return { ...block, input: streamed === '' ? {} : { INVALID_JSON: streamed } };
}

/** The reply as it may come back: cleaned, and without blank texts. */
function sentOf({ content, stopReason }: Wild): SentReply {
  const cleaned = content.map((block) => asCall({ ...Object(clean(block)), type: block.type }));
  return {
    content: cleaned.filter(({ type, text }) => type !== 'text' || String(text).trim() !== ''),
    stopReason,
  };
}

const KINDS: AgentOutcome['kind'][] = [
  'done',
  'parked',
  'failed',
  'refused',
  'truncated',
  'context',
  'limit',
  'provider',
];

/** Runs a model that gives these replies, then empty ones. Throws when a bound or a rule is broken. */
async function runWild(replies: readonly Wild[]): Promise<{ kind: string; asked: number }> {
  const sent: SentReply[] = [];
  const broken: string[] = [];
  let asked = 0;
  let waitedMs = 0;
  const fetchWild: typeof fetch = async (_, init) => {
    broken.push(...checkRequest(JSON.parse(String(init?.body)), sent));
    const reply = replies[asked++] ?? { content: [], stopReason: 'end_turn', way: 'fine', at: 0 };
    sent.push(sentOf(reply));
    return answer(reply);
  };
  const outcome = await runAgent({
    model: 'claude-test',
    system: 'You are a test.',
    tools: fuzzTools(),
    journal: memoryJournal(1),
    callModel: createModelCall({
      baseUrl: 'http://127.0.0.1:1',
      apiKey: 'none',
      idleMs: 5000,
      fetch: fetchWild,
    }),
    opening: ['Do the task.'],
    attempt: 1,
    limits: { ...LIMITS, maxTurns: TURNS_MOST, modelTries: TRIES, modelRetryMs: RETRY_MS },
    workState: async () => ({ unfinishedTodos: ['[ ] a'], openTasks: [] }),
    checklistRemind: true,
    // The clock of the test: it moves by what is waited for, at once.
    wait: async (ms) => {
      waitedMs += ms;
    },
    emit: () => {},
    signal: new AbortController().signal,
  });
  // A name that is not offered is answered with an error, and goes back as it came.
  const rules = broken.filter((line) => !line.includes('is not offered'));
  const calls = (TURNS_MOST + 3) * TRIES;
  if (rules.length > 0) throw new Error(rules.join('\n'));
  if (!KINDS.includes(outcome.kind)) throw new Error(`ended as ${JSON.stringify(outcome)}`);
  if (outcome.kind === 'failed' && outcome.class !== 'model') throw new Error(outcome.reason);
  if (outcome.turns > TURNS_MOST || asked > calls) throw new Error(`${outcome.turns} turns, ${asked} calls`);
  if (waitedMs > RETRY_MS * (TURNS_MOST + 3)) throw new Error(`waited ${waitedMs} ms`);
  return { kind: outcome.kind, asked };
}

/** Lets random models talk to the loop until it has had so many replies. Answers how often each outcome came up. */
export async function fuzz(replies: number, seed: number): Promise<Record<string, number>> {
  const outcomes: Record<string, number> = {};
  let had = 0;
  for (let round = 0; had < replies; round++) {
    await fc.assert(
      fc.asyncProperty(fc.array(wild, { minLength: 1, maxLength: TURNS_MOST * 2 }), async (conversation) => {
        const { kind, asked } = await runWild(conversation);
        outcomes[kind] = (outcomes[kind] ?? 0) + 1;
        had += asked;
      }),
      { numRuns: 50, seed: seed + round },
    );
  }
  return outcomes;
}
