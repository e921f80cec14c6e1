import { type Logger } from '../../src/ports/logger.js';
import { type Metrics } from '../../src/ports/metrics.js';

export interface Measurement {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Keeps everything that was measured, in order. */
export class RecordingMetrics implements Metrics {
  readonly seen: Measurement[] = [];

  count(name: string, labels: Readonly<Record<string, string>>, by = 1): void {
    this.seen.push({ name, labels, value: by });
  }

  observe(name: string, labels: Readonly<Record<string, string>>, value: number): void {
    this.seen.push({ name, labels, value });
  }

  gauge(name: string, labels: Readonly<Record<string, string>>, value: number): void {
    this.seen.push({ name, labels, value });
  }

  clear(name: string): void {
    this.seen.push({ name, labels: {}, value: 0 });
  }

  clearLeaders(): void {
    this.seen.push({ name: 'leaders', labels: {}, value: 0 });
  }
}

export type LoggedLine = readonly [level: string, facts: Readonly<Record<string, unknown>>, message: string];

/** Keeps every line that was logged, in order. */
export class RecordingLogger implements Logger {
  readonly lines: LoggedLine[] = [];

  debug(facts: Readonly<Record<string, unknown>>, message: string): void {
    this.lines.push(['debug', facts, message]);
  }

  info(facts: Readonly<Record<string, unknown>>, message: string): void {
    this.lines.push(['info', facts, message]);
  }

  warn(facts: Readonly<Record<string, unknown>>, message: string): void {
    this.lines.push(['warn', facts, message]);
  }

  error(facts: Readonly<Record<string, unknown>>, message: string): void {
    this.lines.push(['error', facts, message]);
  }
}
