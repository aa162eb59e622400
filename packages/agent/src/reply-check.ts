import { type ContentBlock, isCleanText } from '@crewboard/contracts';
import { isTooDeep } from './depth.ts';
import type { ModelReply } from './model-call.ts';

const CALL_ID = /^[a-zA-Z0-9_-]{1,200}$/;
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;
/** Blocks that belong to user messages: the API would refuse to take them back as a reply's. */
const USER_BLOCKS: ReadonlySet<string> = new Set(['tool_result', 'image', 'document']);

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** Thinking is signed: it can't be cleaned, so it must be clean. */
function isSigned(value: unknown): boolean {
  return isText(value) && isCleanText(value);
}

function isWellFormed(block: ContentBlock): boolean {
  switch (block.type) {
    case '':
      return false;
    case 'text':
      return isText(block.text);
    case 'thinking':
      return isSigned(block.thinking) && isSigned(block.signature) && !isTooDeep(block);
    case 'redacted_thinking':
      return isSigned(block.data) && !isTooDeep(block);
    case 'tool_use':
      return (
        isText(block.id) &&
        CALL_ID.test(block.id) &&
        isText(block.name) &&
        TOOL_NAME.test(block.name) &&
        isObject(block.input)
      );
    default:
      return !USER_BLOCKS.has(block.type);
  }
}

/**
 * Says what is wrong with a reply that could never go back to the API, such as a call whose ID another call of the
 * reply or of the conversation (`taken`) has; undefined for a good one. Blocks of unknown types are good: what the API sends it takes back.
 */
export function malformedPart(reply: ModelReply, taken: ReadonlySet<string>): string | undefined {
  const ids = new Set<unknown>(taken);
  for (const [index, block] of reply.content.entries()) {
    if (!isWellFormed(block)) return `block ${index} (${block.type.slice(0, 40)}) is malformed`;
    if (block.type !== 'tool_use') continue;
    if (ids.has(block.id)) return `block ${index} repeats the ID of another call`;
    ids.add(block.id);
  }
  return undefined;
}
