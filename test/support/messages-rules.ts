import { isDeepStrictEqual } from 'node:util';

/** A JSON object whose fields are still to be checked. */
export type Json = Record<string, unknown>;

/** What a server sent: thinking has to come back as it was, and only a paused reply may end a request. */
export interface SentReply {
  content: readonly Json[];
  stopReason: string;
}

const REQUEST_FIELDS = new Set(
  (
    'model max_tokens messages system tools tool_choice stream metadata stop_sequences thinking output_config ' +
    'service_tier cache_control container diagnostics inference_geo speed user_profile_id workspace_id ' +
    'context_management mcp_servers betas'
  ).split(' '),
);
const THINKING = new Set(['thinking', 'redacted_thinking']);

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function objects(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The content of a message as blocks; a plain text is one text block. */
export function blocksOf(message: Json): Json[] {
  const { content } = message;
  return typeof content === 'string' ? [{ type: 'text', text: content }] : objects(content);
}

function isBlank(value: unknown): boolean {
  return typeof value !== 'string' || value.trim() === '';
}

function checkTop(body: Json): string[] {
  const found: string[] = [];
  for (const field of Object.keys(body)) {
    if (['temperature', 'top_p', 'top_k'].includes(field))
      found.push(`${field} is refused by current models`);
    else if (!REQUEST_FIELDS.has(field)) found.push(`${field}: extra inputs are not permitted`);
  }
  if (isBlank(body.model)) found.push('model is missing');
  const maxTokens = body.max_tokens;
  if (typeof maxTokens !== 'number' || !Number.isInteger(maxTokens) || maxTokens < 1) {
    found.push('max_tokens must be a positive whole number');
  }
  const choice = body.tool_choice;
  if (isObject(choice) && (choice.type === 'any' || choice.type === 'tool')) {
    found.push('a forced tool_choice is refused by the newest models');
  }
  const thinking = body.thinking;
  if (isObject(thinking) && thinking.type === 'enabled') {
    const budget = Number(thinking.budget_tokens);
    if (!(budget >= 1024 && budget < Number(maxTokens))) {
      found.push('thinking.budget_tokens must be at least 1024 and below max_tokens');
    }
  }
  const { system } = body;
  if (system !== undefined) {
    const texts = typeof system === 'string' ? [{ type: 'text', text: system }] : objects(system);
    if (texts.some((block) => block.type !== 'text' || isBlank(block.text))) {
      found.push('system: text blocks must not be empty');
    }
  }
  return found;
}

function checkTools(body: Json): string[] {
  const found: string[] = [];
  const seen = new Set<unknown>();
  for (const [index, tool] of objects(body.tools).entries()) {
    const { name, input_schema: schema } = tool;
    const at = `tools[${index}] (${String(name)})`;
    if (typeof name !== 'string' || !/^[a-zA-Z0-9_-]{1,128}$/.test(name)) found.push(`${at}: bad name`);
    if (seen.has(name)) found.push(`${at}: tool names must be unique`);
    seen.add(name);
    // A tool of another type than `custom` is run by the server and brings its own schema.
    if (tool.type !== undefined && tool.type !== 'custom') continue;
    if ('description' in tool && isBlank(tool.description)) found.push(`${at}: empty description`);
    if (!isObject(schema) || schema.type !== 'object') {
      found.push(`${at}: input_schema must be an object schema`);
      continue;
    }
    for (const union of ['anyOf', 'oneOf', 'allOf']) {
      if (union in schema) found.push(`${at}: input_schema must not have ${union} at the top`);
    }
    const properties = isObject(schema.properties) ? schema.properties : {};
    for (const key of Object.keys(properties)) {
      if (!/^[a-zA-Z0-9_.-]{1,64}$/.test(key)) found.push(`${at}: bad property key ${key}`);
    }
  }
  return found;
}

function checkTextOf(block: Json, at: string): string[] {
  if (block.type === 'text') return isBlank(block.text) ? [`${at}: text must not be empty`] : [];
  if (block.type !== 'tool_result') return [];
  const { content } = block;
  if (typeof content === 'string') return isBlank(content) ? [`${at}: the result's text is empty`] : [];
  return objects(content).flatMap((inner, index) => checkTextOf(inner, `${at}.content[${index}]`));
}

function checkBlocks(message: Json, at: string): string[] {
  const found: string[] = [];
  for (const field of Object.keys(message)) {
    if (field !== 'role' && field !== 'content') found.push(`${at}.${field}: extra inputs are not permitted`);
  }
  const blocks = blocksOf(message);
  if (blocks.length === 0) found.push(`${at}: content must not be empty`);
  const wrong =
    message.role === 'user' ? ['tool_use', 'server_tool_use', ...THINKING] : ['tool_result', 'image'];
  for (const [index, block] of blocks.entries()) {
    const where = `${at}.content[${index}]`;
    const type = String(block.type);
    if (wrong.includes(type)) found.push(`${where}: ${type} does not belong to role ${String(message.role)}`);
    if (THINKING.has(type) && 'cache_control' in block) found.push(`${where}: cache_control on ${type}`);
    found.push(...checkTextOf(block, where));
  }
  return found;
}

/** Blocks without the white space at their end, which may not come back with a paused reply. */
function trimmedAtEnd(content: readonly Json[]): Json[] {
  const kept = content.filter((block) => block.type !== 'text' || !isBlank(block.text));
  const last = kept.at(-1);
  if (last === undefined || typeof last.text !== 'string') return kept;
  return [...kept.slice(0, -1), { ...last, text: last.text.trimEnd() }];
}

function endsPaused(message: Json | undefined, sent: readonly SentReply[]): boolean {
  if (message?.role !== 'assistant') return false;
  const content = trimmedAtEnd(blocksOf(message));
  return sent.some((reply) => {
    const paused = trimmedAtEnd(reply.content);
    return (
      reply.stopReason === 'pause_turn' &&
      paused.length > 0 &&
      isDeepStrictEqual(content.slice(-paused.length), paused)
    );
  });
}

function endsInSpace(message: Json | undefined): boolean {
  const last = message === undefined ? undefined : blocksOf(message).at(-1);
  return message?.role === 'assistant' && typeof last?.text === 'string' && /\s$/.test(last.text);
}

function checkRoles(messages: readonly Json[], sent: readonly SentReply[]): string[] {
  const found: string[] = [];
  if (messages.length === 0) return ['messages must not be empty'];
  if (messages[0]?.role !== 'user') found.push('messages[0] must have role user');
  for (const [index, { role }] of messages.entries()) {
    if (role !== 'user' && role !== 'assistant')
      found.push(`messages[${index}]: unknown role ${String(role)}`);
    const before = messages[index - 1];
    if (before?.role === role && !endsPaused(before, sent)) {
      found.push(`messages[${index}]: roles must alternate, two in a row are ${String(role)}`);
    }
  }
  const last = messages.at(-1);
  if (last?.role === 'assistant' && !endsPaused(last, sent)) {
    found.push('the last message must be a user message, or a paused reply');
  }
  if (endsInSpace(last)) found.push('final assistant content cannot end with trailing whitespace');
  return found;
}

/** Every call is answered once, in call order, at the very start of the next message. */
function checkAnswers(message: Json, next: Json | undefined, at: string): string[] {
  const calls = message.role === 'assistant' ? blocksOf(message).filter((b) => b.type === 'tool_use') : [];
  const wanted = calls.map((call) => call.id);
  const answer = next === undefined ? [] : blocksOf(next);
  const given = answer.filter((block) => block.type === 'tool_result').map((block) => block.tool_use_id);
  const found: string[] = [];
  for (const id of wanted) {
    const times = given.filter((other) => other === id).length;
    if (times !== 1)
      found.push(`${at}: tool_use ${String(id)} is answered ${times} times in the next message`);
  }
  for (const id of given) {
    if (!wanted.includes(id))
      found.push(`${at}: the next message answers ${String(id)}, which it did not call`);
  }
  if (found.length > 0) return found;
  if (!isDeepStrictEqual(given, wanted)) found.push(`${at}: results must be in the order of the calls`);
  const leading = answer.slice(0, given.length).every((block) => block.type === 'tool_result');
  if (!leading) found.push(`${at}: results must come before any other block`);
  return found;
}

function checkCalls(messages: readonly Json[], body: Json): string[] {
  const found: string[] = [];
  const known = new Set(objects(body.tools).map((tool) => tool.name));
  const ids = new Set<unknown>();
  const opening = messages[0];
  if (opening !== undefined && blocksOf(opening).some((block) => block.type === 'tool_result')) {
    found.push('messages[0]: a tool_result without a call');
  }
  for (const [index, message] of messages.entries()) {
    const at = `messages[${index}]`;
    found.push(...checkAnswers(message, messages[index + 1], at));
    for (const block of blocksOf(message)) {
      if (block.type !== 'tool_use') continue;
      const { id, name } = block;
      if (typeof id !== 'string' || !/^[a-zA-Z0-9_-]+$/.test(id)) found.push(`${at}: bad id ${String(id)}`);
      if (ids.has(id)) found.push(`${at}: tool_use ids must be unique, ${String(id)} is used twice`);
      ids.add(id);
      if (!known.has(name)) found.push(`${at}: the tool ${String(name)} is not offered`);
      if (!isObject(block.input)) found.push(`${at}: the input of ${String(id)} must be an object`);
    }
  }
  return found;
}

function idsOf(content: readonly Json[]): Set<unknown> {
  return new Set(content.flatMap((block) => [block.id, block.signature, block.data]).filter(Boolean));
}

/** A reply comes back with its thinking and its calls exactly as they were sent. */
function checkUnchanged(messages: readonly Json[], sent: readonly SentReply[]): string[] {
  const found: string[] = [];
  const kept = (block: Json) => THINKING.has(String(block.type)) || block.type === 'tool_use';
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'assistant') continue;
    const plain = blocksOf(message).map(({ cache_control: _, ...block }) => block);
    const ids = idsOf(plain);
    const origins = sent.filter((reply) => [...idsOf(reply.content)].some((id) => ids.has(id)));
    const whole = (reply: SentReply) => isDeepStrictEqual(plain.filter(kept), reply.content.filter(kept));
    if (origins.length > 0 && !origins.some(whole) && !isJoined(plain.filter(kept), origins, kept)) {
      found.push(`messages[${index}]: thinking and calls must come back exactly as they were sent`);
    }
    if (sent.length > 0 && origins.length === 0 && plain.some((block) => THINKING.has(String(block.type)))) {
      found.push(`messages[${index}]: thinking that was never sent`);
    }
  }
  return found;
}

/** A paused reply and what followed it may come back as one message. */
function isJoined(
  kept: readonly Json[],
  origins: readonly SentReply[],
  filter: (block: Json) => boolean,
): boolean {
  return isDeepStrictEqual(
    kept,
    origins.flatMap((reply) => reply.content.filter(filter)),
  );
}

/** Calls `visit` with every text in `value`, keys included. */
function eachText(value: unknown, path: string, visit: (text: string, path: string) => void): void {
  if (typeof value === 'string') visit(value, path);
  else if (Array.isArray(value))
    for (const [i, item] of value.entries()) eachText(item, `${path}[${i}]`, visit);
  else if (isObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      visit(key, path);
      eachText(item, path === '' ? key : `${path}.${key}`, visit);
    }
  }
}

function checkUnicode(body: Json): string[] {
  const found: string[] = [];
  eachText(body, '', (text, path) => {
    if (!text.isWellFormed()) found.push(`${path}: a lone surrogate`);
    if (text.includes('\u0000')) found.push(`${path}: a NUL character`);
  });
  return found;
}

function countBreakpoints(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + countBreakpoints(item), 0);
  if (!isObject(value)) return 0;
  const own = isObject(value.cache_control) ? 1 : 0;
  return own + countBreakpoints(value.content);
}

/**
 * Checks a request body by the rules of the Messages API and returns one line for each rule it breaks.
 * `sent` are the replies this conversation may have got from the server so far.
 */
export function checkRequest(body: unknown, sent: readonly SentReply[] = []): string[] {
  if (!isObject(body)) return ['the body must be a JSON object'];
  const messages = objects(body.messages);
  const breakpoints = [body.tools, body.system, messages].reduce<number>(
    (sum, part) => sum + countBreakpoints(part),
    isObject(body.cache_control) ? 1 : 0,
  );
  return [
    ...checkTop(body),
    ...checkTools(body),
    ...checkRoles(messages, sent),
    ...messages.flatMap((message, index) => checkBlocks(message, `messages[${index}]`)),
    ...checkCalls(messages, body),
    ...checkUnchanged(messages, sent),
    ...checkUnicode(body),
    ...(breakpoints > 4 ? [`at most 4 cache_control breakpoints, found ${breakpoints}`] : []),
  ];
}
