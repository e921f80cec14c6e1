import { type Judgement } from './rule.js';

export interface Row {
  readonly nemesis: string;
  readonly judgement: Judgement;
  /** Ms; null when there was nothing to time. */
  readonly recoveryMs: number | null;
  readonly bound: number | null;
}

const HEAD = [
  'nemesis',
  'times',
  'slots',
  'doubled',
  'lost',
  'outside',
  'open',
  'outcome_unknown',
  'skipped',
  'failed',
  'worst lateness',
  'recovery',
  'to reach',
];

/** The campaign's table as Markdown: a row per nemesis in the order given, and the sum. */
export function table(rows: readonly Row[], order: readonly string[]): string {
  const lines = order.flatMap((name) => {
    const own = rows.filter(({ nemesis }) => nemesis === name);
    return own.length === 0 ? [] : [line(name, own)];
  });
  return [
    HEAD,
    HEAD.map(() => '---'),
    ...lines,
    line(
      'all',
      rows.map((row) => ({ ...row, recoveryMs: null, bound: null })),
    ),
  ]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

function line(name: string, rows: readonly Row[]): string[] {
  const judgements = rows.map(({ judgement }) => judgement);
  const sum = (of: (judgement: Judgement) => number) => String(judgements.map(of).reduce((a, b) => a + b, 0));
  const breaches = (breach: string) =>
    sum(({ findings }) => findings.filter((f) => f.breach === breach).length);
  const recoveries = rows.flatMap(({ recoveryMs }) => recoveryMs ?? []).toSorted((a, b) => a - b);
  const bound = rows[0]?.bound ?? null;
  return [
    name,
    String(rows.length),
    sum(({ slots }) => slots),
    ...['doubled', 'lost', 'outside', 'open'].map(breaches),
    sum(({ outcomeUnknown }) => outcomeUnknown),
    sum(({ skipped }) => skipped),
    sum(({ failed }) => failed),
    inSeconds(Math.max(...judgements.map(({ worstLatenessMs }) => worstLatenessMs))),
    recoveries.length === 0
      ? '–'
      : `${inSeconds(recoveries[Math.floor(recoveries.length / 2)] as number)}, worst ${inSeconds(recoveries.at(-1) as number)}`,
    bound === null ? '–' : `≤ ${inSeconds(bound)}`,
  ];
}

const inSeconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;
