export const RULES = [
  'missing',
  'duplicate',
  'outside_window',
  'unexpected',
  'double_run',
  'overdue_pending',
  'overdue_running',
] as const;
export type Rule = (typeof RULES)[number];

/** One broken rule. Instants are epoch ms. */
export interface Violation {
  readonly rule: Rule;
  readonly taskId: string;
  readonly slot: number;
  readonly executionId: string | null;
  /** One line for people. */
  readonly detail: string;
}

/** Slots, or a time, of a task that cannot be judged. Instants are epoch ms, both inclusive. */
export interface Unknown {
  readonly taskId: string;
  readonly from: number;
  readonly to: number;
  readonly reason: string;
}

/** This many violations, and as many unknowns, are listed; the others are counted. */
export const MAX_LISTED = 1000;

/** What a check found; its size is bounded. */
export class Findings {
  readonly violations: Violation[] = [];
  readonly unknown: Unknown[] = [];
  unknownCount = 0;
  private readonly counts = new Map<Rule, number>();

  /** `make` is called only for what is listed. */
  violate(rule: Rule, make: () => Omit<Violation, 'rule'>): void {
    this.counts.set(rule, this.countOf(rule) + 1);
    if (this.violations.length < MAX_LISTED) this.violations.push({ rule, ...make() });
  }

  doubt(unknown: Unknown): void {
    this.unknownCount++;
    if (this.unknown.length < MAX_LISTED) this.unknown.push(unknown);
  }

  countOf(rule: Rule): number {
    return this.counts.get(rule) ?? 0;
  }

  get violationCount(): number {
    return RULES.reduce((sum, rule) => sum + this.countOf(rule), 0);
  }

  get isTruncated(): boolean {
    return this.violationCount > this.violations.length || this.unknownCount > this.unknown.length;
  }
}
