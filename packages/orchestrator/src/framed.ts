/** The frames that stand around what a model is told; `reminder`, `state` and `summary` are the agent's own. */
const FRAMES = [
  'task',
  'dependencies',
  'earlier-attempts',
  'goal',
  'job',
  'news',
  'message',
  'reminder',
  'state',
  'summary',
];
/** Slashes and spaces are one class: two lists of spaces side by side would take a time that grows with their square. */
const OPENS_FRAME = new RegExp(`<(?=[\\s/]*(?:${FRAMES.join('|')})\\b)`, 'gi');

const framed = (opening: string, content: string) =>
  `<${opening}>\n${content}\n</${opening.split(' ', 1)[0]}>`;

/**
 * Puts data of others into a frame as JSON. What looks like a frame's tag in it is written with an escape of JSON, so that
 * no text ends its own frame or forges another, such as a message of people; the value stays exactly the same.
 */
export function framedJson(opening: string, value: unknown): string {
  return framed(opening, JSON.stringify(value).replaceAll(OPENS_FRAME, '\\u003c'));
}

/** Puts a text of others into a frame; what looks like a frame's tag in it loses its `<` to `&lt;`. */
export function framedText(opening: string, text: string): string {
  return framed(opening, text.replaceAll(OPENS_FRAME, '&lt;'));
}
