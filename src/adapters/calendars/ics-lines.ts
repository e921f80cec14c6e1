import ICAL from 'ical.js';
import { InvalidInput, messageOf } from '../../domain/errors.js';

/** One line of a file after unfolding; `line` is where it began, counted from 1. */
export interface ContentLine {
  readonly line: number;
  /** In upper case. */
  readonly name: string;
  readonly text: string;
}

/** A property as ical.js reads it: `values` are strings, and objects for rules of recurrence. */
export interface IcsProperty {
  readonly line: number;
  readonly type: string;
  readonly values: readonly unknown[];
}

/** What is wrong at a line of the file, as a problem of the field that holds it. */
export const atLine = (line: number, problem: string, fix: string): InvalidInput =>
  InvalidInput.of('text', `line ${line}: ${problem}`, fix);

/** The lines of a file, whatever its line ends, without a byte order mark. @throws InvalidInput on a line that is none of iCalendar. */
export function contentLines(file: string): ContentLine[] {
  const unfolded: { line: number; text: string }[] = [];
  file
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\n|\r/)
    .forEach((text, i) => {
      const last = unfolded.at(-1);
      if (/^[ \t]/.test(text) && last !== undefined) last.text += text.slice(1);
      else if (text.trim() !== '') unfolded.push({ line: i + 1, text });
    });
  return unfolded.map(({ line, text }) => {
    const name = /^[A-Za-z0-9-]+(?=[;:])/.exec(text)?.[0];
    if (name !== undefined) return { line, name: name.toUpperCase(), text };
    const shown = JSON.stringify(text.slice(0, 40));
    throw atLine(line, `${shown} is not iCalendar`, 'send a file that begins with BEGIN:VCALENDAR');
  });
}

/** Reads one line. @throws InvalidInput with its number. */
export function propertyOf({ line, text }: ContentLine): IcsProperty {
  try {
    const read = ICAL.parse.property(text, ICAL.design.icalendar) as [string, object, string, ...unknown[]];
    const [, , type, ...values] = read;
    return { line, type, values };
  } catch (error) {
    throw atLine(
      line,
      `cannot be read (${messageOf(error).slice(0, 100)})`,
      'correct it, or leave its event out',
    );
  }
}
