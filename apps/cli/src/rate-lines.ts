import type { BoardEvent } from '@crewboard/contracts';
import { eventText } from './event-text.ts';
import { duration } from './text.ts';

/** Nobody notices a shorter wait, and a busy provider causes many of them. */
const SHORTEST_MS = 500;

/** By the clock on the wall of who reads it; with its day when that is another one. */
function clock(ms: number, nowMs: number): string {
  const [then, now] = [new Date(ms), new Date(nowMs)];
  const time = then.toLocaleTimeString('en-GB');
  return then.toDateString() === now.toDateString() ? time : `${then.toDateString()} ${time}`;
}

function brakedLine(event: BoardEvent, model: string): string | undefined {
  const at = Date.parse(event.at);
  const until = Date.parse(eventText(event, 'until') ?? '');
  if (!(until - at >= SHORTEST_MS)) return undefined;
  return `calls of ${model} are held back for ${duration(until - at)}, until ${clock(until, at)}`;
}

/** That calls of a model are held back, why and until when, or that they go on; undefined for all other events. */
export function rateLine(event: BoardEvent): string | undefined {
  const model = eventText(event, 'model') ?? 'the model';
  const reason = eventText(event, 'reason');
  const because = reason === undefined ? '' : `: ${reason}`;
  switch (event.type) {
    case 'rate.braked': {
      const line = brakedLine(event, model);
      return line === undefined ? undefined : `${line}${because}`;
    }
    case 'rate.opened':
      return `calls of ${model} are held back until it answers again${because}`;
    case 'rate.closed':
      return `${model} answers again: its tasks go on`;
    default:
      return undefined;
  }
}
