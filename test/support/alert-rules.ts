import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface RecordingRule {
  readonly record: string;
  readonly expr: string;
}

/** deploy/prometheus/rules.yml. */
export function readRules(): { alerts: AlertRule[]; recordings: RecordingRule[] } {
  const text = readFileSync(new URL('../../deploy/prometheus/rules.yml', import.meta.url), 'utf8');
  const { groups } = parse(text) as { groups: { rules: (AlertRule | RecordingRule)[] }[] };
  const rules = groups.flatMap((group) => group.rules);
  return {
    alerts: rules.filter((rule) => 'alert' in rule),
    recordings: rules.filter((rule) => 'record' in rule),
  };
}
