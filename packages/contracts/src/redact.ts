import type { Environment } from './environment.ts';

/** What stands in the place of a secret. */
export const REDACTED = '[redacted]';

/** Shorter ones are no secrets, and are parts of many words. */
const SECRET_LEAST = 6;

/** What may be a key or a token. */
const KEYS = /\b(?:sk|cb)[-_][\w-]{16,}|\bBearer\s+[\w.~+/-]{8,}=*/gi;
/** A name such as `sk-learn_user_guide_part_2`: words and small numbers, which no random text is made of. */
const NAME = /^(?:sk|cb)(?:[-_]+(?:[A-Z]?[a-z]{1,15}\d{0,4}|\d{1,4}))+[-_]*$/;
/** User and password of a URL, but for one that is masked already. */
const IN_URL = /\b([a-z][a-z0-9+.-]{1,20}:\/\/)(?![^\s/@]*:\*{3}@)[^\s/@"'<>\\]{1,500}@/gi;

/** The text without anything that looks like a key, a token, or the password in a URL. */
export function redactText(text: string): string {
  return text
    .replace(KEYS, (found) => (NAME.test(found) ? found : REDACTED))
    .replace(IN_URL, (_, scheme: string) => `${scheme}${REDACTED}@`);
}

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

/** The characters of base64 that `secret` alone decides, wherever it begins in what is encoded. */
function base64Forms(secret: string): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const whole = base64(`${'x'.repeat(offset)}${secret}`).replace(/=+$/, '');
    const bytes = offset + new TextEncoder().encode(secret).length;
    const from = Math.ceil((offset * 8) / 6);
    const sure = whole.slice(from, Math.floor((bytes * 8) / 6));
    return [sure, sure.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

function hex(text: string): string {
  return [...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** A secret as it may be written: plain, in JSON, in URLs, in hexadecimal digits, in base64. */
function formsOf(secret: string): string[] {
  return [
    hex(secret),
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    ...base64Forms(secret),
  ];
}

/**
 * Returns what takes these secrets, and nothing else, out of a text, however they are written there. Secrets of less
 * than six characters are left in.
 */
export function secretsRemover(secrets: readonly string[]): (text: string) => string {
  const forms = [...new Set(secrets.filter(({ length }) => length >= SECRET_LEAST).flatMap(formsOf))]
    .filter(({ length }) => length >= SECRET_LEAST)
    .sort((a, b) => b.length - a.length);
  return (text) => forms.reduce((rest, form) => rest.replaceAll(form, REDACTED), text);
}

/** Returns what takes these secrets out of a text, and whatever else looks like one. */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const remove = secretsRemover(secrets);
  return (text) => redactText(remove(text));
}

function passwordIn(url: string | undefined): string[] {
  if (url === undefined || !URL.canParse(url)) return [];
  const { password } = new URL(url);
  try {
    return [password, decodeURIComponent(password)];
  } catch {
    return [password];
  }
}

/** Everything in a process' environment that nobody may read in what it writes. */
export function secretsOf(
  environment: Pick<
    Environment,
    'ANTHROPIC_API_KEY' | 'CREWBOARD_API_KEY' | 'REDIS_URL' | 'ANTHROPIC_BASE_URL' | 'CREWBOARD_URL'
  >,
): string[] {
  const { ANTHROPIC_API_KEY, CREWBOARD_API_KEY, REDIS_URL, ANTHROPIC_BASE_URL, CREWBOARD_URL } = environment;
  return [
    ANTHROPIC_API_KEY ?? '',
    CREWBOARD_API_KEY ?? '',
    ...[REDIS_URL, ANTHROPIC_BASE_URL, CREWBOARD_URL].flatMap(passwordIn),
  ].filter((secret) => secret !== '');
}
