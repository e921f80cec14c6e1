import { type Evidence } from '../../domain/execution.js';

/** Column lengths in characters, shared by the migrations and by what cuts text to them. */
export const LENGTHS = { node: 255, reason: 64, ledgerKind: 32, message: 2000, error: 1000 } as const;

const MARK = '… [cut]';
const MAX_EVIDENCE_KEYS = 64;
const MAX_EVIDENCE_TEXT = 16_384;
/** Room for two outputs of 64 KiB, of which every character may need an escape. */
const MAX_DETAIL = 4 * 65_536 + 16_384;

/** At most `max` UTF-16 units, with a mark where the rest was cut off: a store in strict mode never refuses a report for its length. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  const end = max - MARK.length;
  const splitsPair = /[\uD800-\uDBFF]/.test(text.charAt(end - 1));
  return text.slice(0, splitsPair ? end - 1 : end) + MARK;
}

export const cutOrNull = (text: string | null, max: number): string | null =>
  text === null ? null : cut(text, max);

export function evidenceText(evidence: Evidence): string {
  const kept = Object.entries(evidence).slice(0, MAX_EVIDENCE_KEYS);
  const bounded = kept.map(([key, value]) => [
    cut(key, 255),
    typeof value === 'string' ? cut(value, MAX_EVIDENCE_TEXT) : value,
  ]);
  return JSON.stringify(Object.fromEntries(bounded));
}

/** A ledger detail; one that is too long keeps its short members. */
export function detailText(detail: Readonly<Record<string, unknown>>): string {
  const whole = JSON.stringify(detail);
  if (whole.length <= MAX_DETAIL) return whole;
  const isShort = (value: unknown) => (JSON.stringify(value)?.length ?? 0) <= LENGTHS.message;
  const short = Object.entries(detail)
    .filter(([, value]) => isShort(value))
    .slice(0, MAX_EVIDENCE_KEYS / 4);
  return JSON.stringify({ ...Object.fromEntries(short), is_cut: true });
}

/** The object in a JSON text; empty when the text was edited into something else. */
export function recordOf(text: string | null): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text ?? '{}');
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : {};
  } catch {
    return {};
  }
}
