import fc from 'fast-check';

/** A cron expression together with what it means, worked out from how it was drawn and not from its text. */
export interface DrawnCron {
  readonly expr: string;
  /** Star or step in minute or hour: see `about.dst` of the cases. */
  readonly keepsCadence: boolean;
  /** `wall` is the epoch ms at which clocks in UTC show the same date and time. */
  readonly matches: (wall: number) => boolean;
}

interface DrawnField {
  readonly text: string;
  readonly has: (value: number) => boolean;
}

const stepsFrom = (from: number, to: number, step: number): ReadonlySet<number> => {
  const values = new Set<number>();
  for (let value = from; value <= to; value += step) values.add(value);
  return values;
};

const drawn = (text: string, values: ReadonlySet<number>): DrawnField => ({
  text,
  has: (value) => values.has(value),
});

function anyField(min: number, max: number): fc.Arbitrary<DrawnField> {
  const value = fc.integer({ min, max });
  const step = fc.integer({ min: 1, max: max - min + 1 });
  const range = fc.tuple(value, value).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);
  return fc.oneof(
    fc.constant(drawn('*', stepsFrom(min, max, 1))),
    fc.uniqueArray(value, { minLength: 1, maxLength: 4 }).map((list) => drawn(list.join(','), new Set(list))),
    range.map(([a, b]) => drawn(`${a}-${b}`, stepsFrom(a, b, 1))),
    fc.tuple(range, step).map(([[a, b], n]) => drawn(`${a}-${b}/${n}`, stepsFrom(a, b, n))),
    step.map((n) => drawn(`*/${n}`, stepsFrom(min, max, n))),
    fc.tuple(value, step).map(([a, n]) => drawn(`${a}/${n}`, stepsFrom(a, max, n))),
  );
}

/** Days are free, or a plain list; a step over days is left out, see CO-058 in the excluded cases. */
const anyDay = (min: number, max: number): fc.Arbitrary<DrawnField | null> =>
  fc.option(
    fc
      .uniqueArray(fc.integer({ min, max }), { minLength: 1, maxLength: 5 })
      .map((list) => drawn(list.join(','), new Set(list))),
  );

const everyMonth = drawn('*', stepsFrom(1, 12, 1));

/** Five fields, or six where `hasSeconds`; of every day where `isDaily`. */
export function anyCron({ hasSeconds = false, isDaily = false } = {}): fc.Arbitrary<DrawnCron> {
  return fc
    .record({
      second: hasSeconds ? anyField(0, 59) : fc.constant(drawn('0', new Set([0]))),
      minute: anyField(0, 59),
      hour: anyField(0, 23),
      day: isDaily ? fc.constant(null) : anyDay(1, 28),
      month: isDaily ? fc.constant(everyMonth) : fc.oneof(fc.constant(everyMonth), anyField(1, 12)),
      weekday: isDaily ? fc.constant(null) : anyDay(0, 6),
    })
    .map(({ second, minute, hour, day, month, weekday }) => {
      const fields = [minute.text, hour.text, day?.text ?? '*', month.text, weekday?.text ?? '*'];
      const isDay = (date: Date) => {
        const isDayOfMonth = day?.has(date.getUTCDate()) ?? true;
        const isWeekday = weekday?.has(date.getUTCDay()) ?? true;
        return day !== null && weekday !== null ? isDayOfMonth || isWeekday : isDayOfMonth && isWeekday;
      };
      return {
        expr: (hasSeconds ? [second.text, ...fields] : fields).join(' '),
        keepsCadence: /[*/]/.test(minute.text + hour.text),
        matches: (wall: number) => {
          const date = new Date(wall);
          return (
            second.has(date.getUTCSeconds()) &&
            minute.has(date.getUTCMinutes()) &&
            hour.has(date.getUTCHours()) &&
            month.has(date.getUTCMonth() + 1) &&
            isDay(date)
          );
        },
      };
    });
}
