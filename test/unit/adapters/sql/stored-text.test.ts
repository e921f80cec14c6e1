import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cut, detailText, evidenceText, recordOf } from '../../../../src/adapters/sql/stored-text.js';

describe('stored text', () => {
  it('never exceeds its length, never splits a character, and says when it was cut', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 60 }),
        fc.integer({ min: 10, max: 40 }),
        (text, max) => {
          const stored = cut(text, max);
          expect(stored.length).toBeLessThanOrEqual(max);
          if (text.length <= max) expect(stored).toBe(text);
          else {
            expect(stored.endsWith('… [cut]')).toBe(true);
            expect(text.startsWith(stored.slice(0, -'… [cut]'.length))).toBe(true);
            expect(stored).not.toMatch(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])/);
          }
        },
      ),
    );
  });

  it('keeps evidence as it is while it is of common size', () => {
    const evidence = { http_status: 503, is_cut: false, output_tail: 'é"\n' };
    expect(JSON.parse(evidenceText(evidence))).toEqual(evidence);
  });

  it('bounds evidence of any size', () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`key_${i}`, 'x'.repeat(100_000)]));
    expect(evidenceText(many).length).toBeLessThan(1_200_000);
  });

  it('keeps two outputs of 64 KiB whole, even if every character needs an escape', () => {
    const output = '"\n'.repeat(32_768);
    const detail = { attempt: 1, evidence: { stdout_tail: output, stderr_tail: output } };
    expect(JSON.parse(detailText(detail))).toEqual(detail);
  });

  it('keeps the short members of a detail that is too long', () => {
    const detail = { attempt: 2, evidence: { output_tail: 'x'.repeat(300_000) }, reason: null };
    expect(JSON.parse(detailText(detail))).toEqual({ attempt: 2, reason: null, is_cut: true });
    expect(JSON.parse(detailText({ attempt: 2 }))).toEqual({ attempt: 2 });
  });

  it.each(['no json', '[1]', '"text"', 'null', null])('reads %s as an empty record', (text) => {
    expect(recordOf(text)).toEqual({});
  });
});
