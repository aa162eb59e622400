import type { Journal, JournalEntry, NewJournalEntry, Tool } from '../../../packages/contracts/src/index.ts';

/**
 * Tells of each boundary that a run crosses, in the order in which it does. A kill is an `onCross` that never
 * returns, or that ends the process.
 */
export interface Boundaries {
  /** What was crossed so far, by name. */
  readonly crossed: readonly string[];
  cross(name: string): Promise<void>;
}

/** Counts boundaries; `onCross` gets the number of each, from 1. */
export function countBoundaries(onCross: (number: number) => Promise<void> | void = () => {}): Boundaries {
  const crossed: string[] = [];
  return {
    crossed,
    async cross(name) {
      const number = crossed.push(name);
      await onCross(number);
    },
  };
}

/** A journal that crosses a boundary before and after each write. */
export function boundedJournal(journal: Journal, boundaries: Boundaries): Journal {
  return {
    get entries(): readonly JournalEntry[] {
      return journal.entries;
    },
    async append(entry: NewJournalEntry) {
      await boundaries.cross(`before journal ${entry.kind}`);
      await journal.append(entry);
      await boundaries.cross(`after journal ${entry.kind}`);
    },
  };
}

/** Tools that cross a boundary at their start and at their end. */
export function boundedTools(tools: readonly Tool[], boundaries: Boundaries): Tool[] {
  return tools.map((tool) => ({
    ...tool,
    async execute(input, context) {
      await boundaries.cross(`start of ${context.toolUseId}`);
      const answer = await tool.execute(input, context);
      await boundaries.cross(`end of ${context.toolUseId}`);
      return answer;
    },
  }));
}

async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const piece of body) {
    rest += decoder.decode(piece, { stream: true });
    const events = rest.split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) yield `${event}\n\n`;
  }
}

/** A `fetch` that crosses a boundary before and after each request and before each event of the answer. */
export function boundedFetch(boundaries: Boundaries): typeof fetch {
  return async (input, init) => {
    await boundaries.cross('before request');
    const answer = await fetch(input, init);
    await boundaries.cross('after request');
    const { body } = answer;
    if (body === null) return answer;
    const encoder = new TextEncoder();
    async function* chunks() {
      for await (const event of eventsOf(body ?? new ReadableStream())) {
        await boundaries.cross(`before chunk ${/event: (\w+)/.exec(event)?.[1]}`);
        yield encoder.encode(event);
      }
    }
    return new Response(ReadableStream.from(chunks()), { status: answer.status, headers: answer.headers });
  };
}
