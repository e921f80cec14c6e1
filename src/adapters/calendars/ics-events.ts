import { atLine, contentLines, type IcsProperty, propertyOf } from './ics-lines.js';

/** One VEVENT: the line of its BEGIN, and its properties that say what day it is. */
export interface IcsEvent {
  readonly line: number;
  readonly properties: ReadonlyMap<string, readonly IcsProperty[]>;
}

const SAYING = new Set([
  ...['UID', 'SUMMARY', 'DESCRIPTION', 'CATEGORIES', 'STATUS', 'X-APPLE-SPECIAL-DAY'],
  ...['DTSTART', 'DTEND', 'DURATION', 'RRULE', 'RDATE', 'EXDATE', 'RECURRENCE-ID'],
]);
const WHOLE = 'send the whole file';

/** The events of a file; what lies beside and within them (time zones, alarms) is left out. @throws InvalidInput with a line. */
export function icsEvents(file: string): IcsEvent[] {
  const events: IcsEvent[] = [];
  const open: { readonly line: number; readonly component: string }[] = [];
  let properties = new Map<string, IcsProperty[]>();
  for (const content of contentLines(file)) {
    const { line, name, text } = content;
    const component = text
      .slice(text.indexOf(':') + 1)
      .trim()
      .toUpperCase();
    if (open.length === 0 && (name !== 'BEGIN' || component !== 'VCALENDAR'))
      throw atLine(line, 'is outside of a calendar', 'send a file that begins with BEGIN:VCALENDAR');
    if (name === 'BEGIN') {
      open.push({ line, component });
      if (open.length === 2) properties = new Map();
    } else if (name === 'END') {
      const begun = open.pop();
      if (begun?.component !== component)
        throw atLine(line, `ends ${component.slice(0, 40)}, which is not the one that began last`, WHOLE);
      if (open.length === 1 && component === 'VEVENT') events.push({ line: begun.line, properties });
    } else if (open.length === 2 && open[1]?.component === 'VEVENT' && SAYING.has(name)) {
      const same = properties.get(name) ?? [];
      same.push(propertyOf(content));
      properties.set(name, same);
    }
  }
  const unclosed = open.at(-1);
  if (unclosed === undefined) return events;
  throw atLine(unclosed.line, `begins ${unclosed.component.slice(0, 40)}, which never ends`, WHOLE);
}

/** All texts of the properties with these names. */
export const textsOf = ({ properties }: IcsEvent, ...names: readonly string[]): string[] =>
  names.flatMap((name) => properties.get(name) ?? []).flatMap(({ values }) => values.map(String));
