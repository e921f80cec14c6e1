/** What one look at a part of an installation found. */
export interface Diagnosis {
  /** What was looked at, a stable name. */
  readonly check: string;
  /** `warning`: it works, and should be mended before it does not. `problem`: a guarantee or a task suffers. */
  readonly state: 'ok' | 'warning' | 'problem';
  /** One line for people. */
  readonly finding: string;
  /** What to do; null where nothing is. */
  readonly fix: string | null;
}

export const ok = (check: string, finding: string): Diagnosis => ({ check, state: 'ok', finding, fix: null });
export const warning = (check: string, finding: string, fix: string): Diagnosis => ({
  ...{ check, state: 'warning', finding, fix },
});
export const problem = (check: string, finding: string, fix: string): Diagnosis => ({
  ...{ check, state: 'problem', finding, fix },
});

/** Names in one finding. */
const MAX_NAMES = 5;

/** The first of some names, and how many more there are. */
export function named(names: readonly string[], count = names.length): string {
  const shown = names.slice(0, MAX_NAMES);
  return [...shown, ...(count > shown.length ? [`${count - shown.length} more`] : [])].join(', ');
}
