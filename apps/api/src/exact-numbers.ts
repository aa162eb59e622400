const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
/** Integers of fewer digits are all exact. */
const EXACT_DIGITS = 15;

const isDigit = (byte: number | undefined) => byte !== undefined && byte >= 0x30 && byte <= 0x39;
/** What a number of JSON goes on with: digits, `.`, `e`, `E`, `+`, `-`. */
const isInNumber = (byte: number | undefined) =>
  isDigit(byte) || byte === 0x2e || byte === 0x65 || byte === 0x45 || byte === 0x2b || byte === MINUS;

/** True for an integer that a double can't hold, and for what is beyond its range; decimals are rounded as ever. */
function isLost(number: string): boolean {
  const value = Number(number);
  if (!Number.isFinite(value)) return true;
  return number.length > EXACT_DIGITS && /^-?\d+$/.test(number) && BigInt(number) !== BigInt(value);
}

/**
 * The first number of a JSON text in UTF-8 that reading it would silently change: an integer that is not exact as a
 * double, or one beyond its range. Undefined when there is none. It goes by bytes, as every body passes through it.
 */
export function lostNumber(json: Buffer): string | undefined {
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === QUOTE) {
      for (at++; at < json.length && json[at] !== QUOTE; at++) if (json[at] === BACKSLASH) at++;
    } else if (isDigit(byte) || byte === MINUS) {
      const from = at;
      while (isInNumber(json[at + 1])) at++;
      const number = json.toString('latin1', from, at + 1);
      if (isLost(number)) return number;
    }
  }
  return undefined;
}
