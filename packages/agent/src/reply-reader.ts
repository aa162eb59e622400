import type { ContentBlock, Usage } from '@crewboard/contracts';
import { z } from 'zod';
import type { CallSpent } from './call-spent.ts';
import { ModelCallError, type ModelReply } from './model-call.ts';

const count = z.number().int().nonnegative().nullish();
const WireUsage = z.object({
  input_tokens: count,
  output_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
});
type WireUsage = z.infer<typeof WireUsage>;

const index = z.number().int().min(0).max(100_000);
const Delta = z.looseObject({ type: z.string() });
type Delta = z.infer<typeof Delta>;
const StreamEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('message_start'),
    message: z.object({ id: z.string(), model: z.string(), usage: WireUsage }),
  }),
  z.object({
    type: z.literal('content_block_start'),
    index,
    content_block: z.looseObject({ type: z.string() }),
  }),
  z.object({ type: z.literal('content_block_delta'), index, delta: Delta }),
  z.object({ type: z.literal('content_block_stop'), index }),
  z.object({
    type: z.literal('message_delta'),
    delta: z.object({ stop_reason: z.string().nullish() }),
    usage: WireUsage.optional(),
  }),
  z.object({ type: z.literal('message_stop') }),
]);
type StreamEvent = z.infer<typeof StreamEvent>;
const EVENT_TYPES: ReadonlySet<unknown> = new Set(
  StreamEvent.options.map((option) => option.shape.type.value),
);

/** The fields that text-like deltas extend: the block's field, by the delta's type. */
const EXTENDED_FIELD: Readonly<Record<string, string>> = { text_delta: 'text', thinking_delta: 'thinking' };

/** A stream that can't be put together, in words for people. */
function malformed(what: string): ModelCallError {
  return new ModelCallError('transient', `the model's stream is malformed: ${what}`);
}

/** The event, or the field of it that is wrong; nothing of what was sent is quoted. */
function parseEvent(data: unknown): StreamEvent {
  const parsed = StreamEvent.safeParse(data);
  if (parsed.success) return parsed.data;
  const type = isRecord(data) ? data.type : undefined;
  const path = parsed.error.issues[0]?.path.join('.') ?? '';
  throw malformed(`${type} has ${path === '' ? 'another shape' : `a wrong or missing ${path}`}`);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The API takes back only objects as inputs: what is none is wrapped, and the tool's schema then refuses it. */
function parseInput(json: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json);
    if (isRecord(value)) return value;
  } catch {
    // A call that was cut has half a JSON; its turn is dropped by its stop reason.
  }
  return { INVALID_JSON: json };
}

function extended(block: ContentBlock, delta: Delta): ContentBlock {
  const field = EXTENDED_FIELD[delta.type];
  if (field !== undefined) return { ...block, [field]: `${block[field] ?? ''}${delta[field] ?? ''}` };
  if (delta.type === 'signature_delta') return { ...block, signature: delta.signature };
  if (delta.type !== 'citations_delta') return block;
  const earlier: unknown[] = Array.isArray(block.citations) ? block.citations : [];
  return { ...block, citations: [...earlier, delta.citation] };
}

/** Puts the events of one streamed reply together. */
export class ReplyReader {
  #head: { messageId: string; model: string } | undefined;
  readonly #blocks: ContentBlock[] = [];
  readonly #inputs = new Map<number, string>();
  readonly #open = new Set<number>();
  #usage: WireUsage = {};
  #stopReason: string | undefined;
  #stopped = false;

  /**
   * Takes in one event; unknown types are ignored, and all that follows the reply's end. Throws a `transient`
   * {@link ModelCallError} when a known one has another shape, or comes where it can't.
   */
  add(data: unknown): void {
    if (this.#stopped) return;
    if (isRecord(data) && EVENT_TYPES.has(data.type)) this.#take(parseEvent(data));
  }

  /** The whole reply once its `message_stop` has come; before that undefined. */
  get reply(): ModelReply | undefined {
    if (!this.#stopped || this.#head === undefined || this.#stopReason === undefined) return undefined;
    // A filter skips the holes that a server leaves when it skips an index.
    const content = this.#blocks.filter(() => true);
    return { ...this.#head, content, stopReason: this.#stopReason, usage: this.#countedUsage() };
  }

  /** What a stream that breaks here has cost, by what it has told; undefined before its first event. */
  get spent(): CallSpent | undefined {
    if (this.#head === undefined) return undefined;
    const usage = this.#countedUsage();
    return this.#stopReason === undefined ? { kind: 'begun', usage } : { kind: 'used', usage };
  }

  #take(event: StreamEvent): void {
    switch (event.type) {
      case 'message_start':
        this.#head = { messageId: event.message.id, model: event.message.model };
        this.#count(event.message.usage);
        break;
      case 'content_block_start':
        this.#begin(event.index, event.content_block);
        break;
      case 'content_block_delta':
        this.#extend(event.index, event.delta);
        break;
      case 'content_block_stop':
        this.#close(event.index);
        break;
      case 'message_delta':
        this.#stopReason = event.delta.stop_reason ?? this.#stopReason;
        this.#count(event.usage ?? {});
        break;
      case 'message_stop':
        this.#stop();
        break;
    }
  }

  #extend(at: number, delta: Delta): void {
    const block = this.#blocks[at];
    if (block === undefined || !this.#open.has(at))
      throw malformed(`a delta for block ${at}, which is not open`);
    if (delta.type === 'input_json_delta') {
      this.#inputs.set(at, `${this.#inputs.get(at) ?? ''}${delta.partial_json ?? ''}`);
    } else {
      this.#blocks[at] = extended(block, delta);
    }
  }

  #begin(at: number, block: ContentBlock): void {
    if (this.#blocks[at] !== undefined) throw malformed(`block ${at} was started twice`);
    this.#blocks[at] = block;
    this.#open.add(at);
  }

  /** A reply that lacks anything is none: a block that was never closed may be a call without its input. */
  #stop(): void {
    const [open] = this.#open;
    if (open !== undefined) throw malformed(`the reply ended within block ${open}`);
    if (this.#head === undefined) throw malformed('the reply ended before it began');
    if (this.#stopReason === undefined) throw malformed('the reply ended without a stop reason');
    this.#stopped = true;
  }

  #close(at: number): void {
    this.#open.delete(at);
    const json = this.#inputs.get(at);
    const block = this.#blocks[at];
    if (json !== undefined && json !== '' && block !== undefined) {
      this.#blocks[at] = { ...block, input: parseInput(json) };
    }
  }

  /** Counts in `message_delta` are totals of the message, left out where they do not apply. */
  #count(usage: WireUsage): void {
    const given = Object.entries(usage).filter(([, value]) => value !== null && value !== undefined);
    this.#usage = { ...this.#usage, ...Object.fromEntries(given) };
  }

  #countedUsage(): Usage {
    return {
      modelCalls: 1,
      inputTokens: this.#usage.input_tokens ?? 0,
      outputTokens: this.#usage.output_tokens ?? 0,
      cacheReadTokens: this.#usage.cache_read_input_tokens ?? 0,
      cacheWriteTokens: this.#usage.cache_creation_input_tokens ?? 0,
    };
  }
}
