import { type Calendar, calendarProblems } from '../../domain/calendar.js';
import { CalendarDays } from '../../domain/calendar-days.js';
import { type CalendarReference } from '../../domain/calendar-use.js';
import { type Statements } from './sql-db.js';

/** Names one version of a calendar. */
export type VersionKey = Pick<CalendarReference, 'name' | 'version'>;

/** Where a stored reference finds its calendar; undefined: there is no such version. */
export interface KnownCalendars {
  find(key: VersionKey): CalendarDays | undefined;
}

export interface VersionRow {
  readonly name: string;
  readonly version: number;
  readonly body_json: string;
}

/** More are forgotten and read again. */
const MAX_KNOWN = 300;
const KEYS_PER_READ = 300;

export const NO_CALENDARS: KnownCalendars = { find: () => undefined };

/** Versions of calendars that were read; since none ever changes, none is read twice. */
export class StoredCalendars {
  private readonly known = new Map<string, CalendarDays>();

  /** Those of these versions that exist: one statement if there are any that were not read before. */
  async load(sql: Statements, keys: readonly VersionKey[]): Promise<KnownCalendars> {
    if (keys.length === 0) return NO_CALENDARS;
    const wanted = new Map(keys.map((key) => [nameOf(key), key]));
    const found = new Map<string, CalendarDays>();
    for (const [name, days] of this.known) if (wanted.has(name)) found.set(name, days);
    const missing = [...wanted].filter(([name]) => !found.has(name)).map(([, key]) => key);
    for (let i = 0; i < missing.length; i += KEYS_PER_READ) {
      for (const days of await read(sql, missing.slice(i, i + KEYS_PER_READ))) {
        found.set(nameOf(days.calendar), days);
        if (this.known.size >= MAX_KNOWN) this.known.clear();
        this.known.set(nameOf(days.calendar), days);
      }
    }
    return { find: (key) => found.get(nameOf(key)) };
  }
}

async function read(sql: Statements, keys: readonly VersionKey[]): Promise<CalendarDays[]> {
  const rows = await sql.rows<VersionRow>(
    `SELECT name, version, body_json FROM calendar_version WHERE ${keys.map(() => '(name = ? AND version = ?)').join(' OR ')}`,
    keys.flatMap(({ name, version }) => [name, version]),
  );
  return rows
    .map(calendarOf)
    .filter((calendar) => calendar !== null)
    .map((calendar) => new CalendarDays(calendar));
}

/** Null if somebody has spoilt the row. */
export function calendarOf({ name, version, body_json }: VersionRow): Calendar | null {
  try {
    const calendar = { ...(JSON.parse(body_json) as Calendar), name, version };
    return calendarProblems(calendar).length === 0 ? calendar : null;
  } catch {
    return null;
  }
}

const nameOf = ({ name, version }: VersionKey): string => `${name}@${version}`;

/** The versions that the schedules in a stored JSON refer to: of a task, or of its former schedules. */
export function referencesIn(json: unknown): VersionKey[] {
  if (typeof json !== 'string' || !json.includes('"calendar":{')) return [];
  try {
    return [JSON.parse(json) as unknown].flatMap(referencesOf);
  } catch {
    return [];
  }
}

function referencesOf(value: unknown): VersionKey[] {
  if (Array.isArray(value)) return value.flatMap(referencesOf);
  if (typeof value !== 'object' || value === null) return [];
  const { schedule, former } = value as { readonly schedule?: unknown; readonly former?: unknown };
  const reference = (schedule as { readonly calendar?: unknown } | null | undefined)?.calendar;
  return [...(isVersionKey(reference) ? [reference] : []), ...referencesOf(former)];
}

export const isVersionKey = (value: unknown): value is VersionKey =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as VersionKey).name === 'string' &&
  Number.isSafeInteger((value as VersionKey).version);
