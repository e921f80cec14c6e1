/** One job of a crontab as it stands there. */
export interface CrontabEntry {
  /** From 1. */
  readonly line: number;
  /** Five fields or a macro, or the whole line if it has too few. */
  readonly expr: string;
  readonly command: string;
  /** What the last `CRON_TZ=` before it says; null without one. */
  readonly timezone: string | null;
}

const SETTING = /^([A-Za-z_]\w*)\s*=\s*(.*)$/;
const ENTRY = /^(@\S+|(?:\S+[ \t]+){4}\S+)(?:[ \t]+(.*))?$/;

/** The jobs of a crontab, in order; blank lines, comments and settings are none. */
export function readCrontab(text: string): CrontabEntry[] {
  const entries: CrontabEntry[] = [];
  let timezone: string | null = null;
  for (const [i, raw] of text.split(/\r?\n/).entries()) {
    const content = raw.trim();
    if (content === '' || content.startsWith('#')) continue;
    const [, name, value = ''] = SETTING.exec(content) ?? [];
    if (name === 'CRON_TZ') timezone = value.replace(/^(['"])(.*)\1$/, '$2');
    if (name !== undefined) continue;
    const [, expr = content, command = ''] = ENTRY.exec(content) ?? [];
    entries.push({ line: i + 1, expr, command, timezone });
  }
  return entries;
}
