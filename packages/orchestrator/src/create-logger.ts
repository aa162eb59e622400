import { redactFields, redactor } from '@crewboard/contracts';
import { type DestinationStream, type Logger, pino } from 'pino';

/** Causes that are told of an error. */
const CAUSES_MOST = 3;

interface ToldError {
  type: string;
  message: string;
  code?: string;
  stack?: string;
  cause?: ToldError;
}

/**
 * What a log says of an error. Never its other fields: those of an HTTP client hold requests with their headers and
 * bodies.
 */
function toldError(error: unknown, causes = CAUSES_MOST): ToldError | unknown {
  if (!(error instanceof Error)) return error;
  const { name, message, stack, cause } = error;
  return {
    type: name,
    message,
    ...('code' in error && typeof error.code === 'string' ? { code: error.code } : {}),
    ...(stack === undefined ? {} : { stack }),
    ...(cause instanceof Error && causes > 0 ? { cause: toldError(cause, causes - 1) } : {}),
  };
}

const toldErrors = (fields: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, toldError(value)]));

/** Logs the errors that nobody caught; to end the process is for whoever started it. */
export function logDefects(log: Logger, from: NodeJS.EventEmitter): void {
  from.on('uncaughtException', (err: unknown) => log.fatal({ err }, 'a defect ends this process'));
}

export interface LoggerOptions {
  /** `api` or `worker`. */
  name: string;
  level: string;
  /** What the process knows and nobody may read: taken out of every line, wherever it stands. */
  secrets?: readonly string[];
  /** Lines go to standard error unless it is given: standard output is for data. */
  destination?: DestinationStream;
}

/**
 * Returns the logger of a process: one line of JSON an entry. Secrets are taken out by value, by the names of fields at
 * any depth, and by what keys and passwords in URLs look like.
 */
export function createLogger({
  name,
  level,
  secrets = [],
  destination = pino.destination(2),
}: LoggerOptions): Logger {
  const redact = redactor(secrets);
  return pino(
    {
      name,
      level,
      // The one serializer there is by default would say all that an error carries.
      serializers: { err: (error: unknown) => error },
      formatters: { log: toldErrors },
    },
    { write: (line) => void destination.write(redactFields(redact(line))) },
  );
}
