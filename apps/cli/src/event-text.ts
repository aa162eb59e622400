import type { BoardEvent } from '@crewboard/contracts';
import { safeLine } from './text.ts';

/** A text among the data of an event, safe for one line; undefined when there is none. */
export function eventText(event: BoardEvent, name: string): string | undefined {
  const value = event.data?.[name];
  return typeof value === 'string' && value !== '' ? safeLine(value, 160) : undefined;
}
