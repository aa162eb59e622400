import { createLogger as loggerOf } from '@crewboard/orchestrator';
import type { DestinationStream, Logger } from 'pino';

/** Returns the API's logger, without `secrets` in its lines; they go to standard error unless `destination` is given. */
export function createLogger(
  level: string,
  destination?: DestinationStream,
  secrets: readonly string[] = [],
): Logger {
  return loggerOf({ name: 'api', level, secrets, ...(destination === undefined ? {} : { destination }) });
}
