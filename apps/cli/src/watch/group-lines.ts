import { padColumns, shownLine, textColumns } from '@crewboard/contracts';
import { bar } from './bars.ts';
import type { Group } from './groups.ts';
import type { Paint } from './paint.ts';

const NAME_SHARE = 0.3;
const BAR_SHARE = 1 / 3;
const BAR_LEAST = 5;
/** Before names, bars and texts. */
const GAPS = '  '.length * 3;

/** The part of a group that is done, flush right among the others', then what else is to say of it. */
function groupText({ completed, total, running, failed }: Group, shareColumns: number): string {
  const extra = [...(running > 0 ? [`${running} running`] : []), ...(failed > 0 ? [`${failed} failed`] : [])];
  return [`${completed}/${total}`.padStart(shareColumns), ...extra].join(', ');
}

/** Groups in lines of at most `columns`, their names, bars and texts one below the other. */
export function groupLines(groups: readonly Group[], columns: number, paint: Paint): string[] {
  const names = groups.map(({ name }) => shownLine(name, Math.floor(columns * NAME_SHARE)));
  const nameColumns = Math.max(0, ...names.map(textColumns));
  const shareColumns = Math.max(0, ...groups.map(({ completed, total }) => `${completed}/${total}`.length));
  const texts = groups.map((group) => groupText(group, shareColumns));
  const room = columns - nameColumns - GAPS;
  const longest = Math.max(0, ...texts.map((text) => text.length));
  const width = Math.max(BAR_LEAST, Math.min(Math.floor(columns * BAR_SHARE), room - longest));
  return groups.map((group, at) => {
    const text = (texts[at] ?? '').slice(0, Math.max(0, room - width)).trimEnd();
    return `  ${padColumns(names[at] ?? '', nameColumns)}  ${bar(group, width, paint)}  ${text}`;
  });
}
