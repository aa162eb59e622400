import { type DestinationStream, type Logger, pino } from 'pino';

const CREDENTIALS = ['authorization', 'cookie', 'set-cookie', 'proxy-authorization'];

/**
 * Returns the API's logger. Credentials are cut out wherever headers are logged; bodies are never logged.
 * Lines go to standard error unless `destination` is given: standard output is for data.
 */
export function createLogger(level: string, destination: DestinationStream = pino.destination(2)): Logger {
  const paths = CREDENTIALS.flatMap((name) => [
    `headers["${name}"]`,
    `*.headers["${name}"]`,
    `["${name}"]`,
    `*["${name}"]`,
  ]);
  return pino({ level, name: 'api', redact: { paths, censor: '[redacted]' } }, destination);
}
