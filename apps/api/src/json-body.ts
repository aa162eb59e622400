import { CrewboardError, PROTO_REFUSED, pathText, shownLine } from '@crewboard/contracts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { lostNumber } from './exact-numbers.ts';
import { repeatedField } from './repeated-field.ts';

/** Lists and objects stand in each other at most this deep: what reads them by recursion must not run out of stack. */
const MAX_DEPTH = 200;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * True when lists and objects of a JSON text in UTF-8 stand in each other deeper than {@link MAX_DEPTH}. It goes by
 * bytes, as every body passes through it: those that it looks for are never part of another character.
 */
function isTooDeep(json: Buffer): boolean {
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === QUOTE) {
      // To the closing quote: brackets within a string are text.
      for (at++; at < json.length && json[at] !== QUOTE; at++) if (json[at] === BACKSLASH) at++;
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      if (++depth > MAX_DEPTH) return true;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth--;
  }
  return false;
}

/** True when the text is JSON: then what the parser has against it is a member `__proto__`. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function inexact(number: string): CrewboardError {
  return new CrewboardError(
    'invalid_argument',
    `The body is not taken: the number ${shownLine(number, 100)} can't be kept exactly. Send it as a text.`,
  );
}

/** Which of the two was meant nobody knows. */
function twice(at: readonly PropertyKey[]): CrewboardError {
  const path = pathText(at);
  return new CrewboardError(
    'invalid_argument',
    `The body is not taken: ${path} stands twice. Send it once.`,
    {
      path,
    },
  );
}

/** What would get lost of a body in reading it. */
function lossOf(body: Buffer, value: unknown): CrewboardError | undefined {
  const lost = lostNumber(body);
  if (lost !== undefined) return inexact(lost);
  const repeated = repeatedField(body, value);
  return repeated === undefined ? undefined : twice(repeated);
}

/** Bodies are read as they come, in UTF-8: one of another kind is refused as that, not as broken JSON. */
async function refuseEncoded({ headers }: FastifyRequest): Promise<void> {
  const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(headers['content-type'] ?? '')?.[1] ?? 'utf-8';
  if (!/^(?:utf-?8|us-ascii)$/i.test(charset)) {
    throw new CrewboardError(
      'unsupported_media_type',
      `A body in the charset ${shownLine(charset, 100)} is not read: send UTF-8.`,
      { allowed: ['utf-8'], next: { call: 'again', with: '"Content-Type: application/json"' } },
    );
  }
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (encoding === '' || encoding === 'identity') return;
  throw new CrewboardError(
    'unsupported_media_type',
    `A body with "Content-Encoding: ${shownLine(encoding, 100)}" is not read: send it as it is.`,
    { allowed: ['identity'], next: { call: 'again', with: 'no Content-Encoding' } },
  );
}

/**
 * Makes JSON the only body that `app` reads. An empty body is an absent one, whatever its content type; one
 * that is not UTF-8 or not JSON, that is nested too deep, carries `__proto__`, a number that would be changed or a
 * field twice, is `invalid_argument`; one with a Content-Encoding but `identity`, or in another charset, is
 * `unsupported_media_type`.
 */
export function acceptJsonOnly(app: FastifyInstance): void {
  // A member "constructor" is data like any other: no object is ever merged into another by its members.
  const parseJson = app.getDefaultJsonParser('error', 'ignore');
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  app.addHook('preParsing', refuseEncoded);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const refuse = (error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      done(new CrewboardError('invalid_argument', `The body is not valid JSON: ${reason}.`));
    };
    if (body.length === 0) return done(null, undefined);
    try {
      if (isTooDeep(body)) return refuse(`it is nested deeper than ${MAX_DEPTH} levels`);
      const text = utf8.decode(body);
      // The decoder has taken one off, and the parser would take another.
      if (text.startsWith('\ufeff')) return refuse('it begins with more than one byte order mark');
      parseJson(request, text, (error, value) => {
        const loss = error ? undefined : lossOf(body, value);
        if (loss !== undefined) return done(loss);
        if (!error) return done(null, value);
        if (!isJson(text)) return refuse(error);
        done(new CrewboardError('invalid_argument', `The body is not taken: ${PROTO_REFUSED}.`));
      });
    } catch (error) {
      refuse(error);
    }
  });
}
