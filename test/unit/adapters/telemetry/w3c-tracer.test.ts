import { describe, expect, it } from 'vitest';
import { W3cTracer } from '../../../../src/adapters/telemetry/w3c-tracer.js';
import { isSampled, traceIdOf } from '../../../../src/ports/tracer.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = `00-${TRACE}-00f067aa0ba902b7-01`;
const FORM = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-01$/;

/** From the "traceparent" section of W3C Trace Context. */
const BROKEN = [
  '',
  'nonsense',
  `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `ff-${TRACE}-00f067aa0ba902b7-01`,
  `00-${TRACE.toUpperCase()}-00f067aa0ba902b7-01`,
  `00-${TRACE.slice(1)}-00f067aa0ba902b7-01`,
  `00-${TRACE}-00f067aa0ba902b7`,
  `00-${TRACE}-00f067aa0ba902b7-01-more`,
  `00-${TRACE}-00f067aa0ba902b7-01\n`,
];

describe('W3cTracer', () => {
  const tracer = new W3cTracer();

  it('starts a new trace each time', () => {
    const all = Array.from({ length: 1000 }, () => tracer.start(null));
    expect(all.every((traceparent) => FORM.test(traceparent))).toBe(true);
    expect(new Set(all.map(traceIdOf)).size).toBe(1000);
  });

  it('goes on with the trace of a valid parent, under a span of its own', () => {
    for (const next of [tracer.start(PARENT), tracer.child(PARENT)]) {
      expect(next).toMatch(FORM);
      expect(traceIdOf(next)).toBe(TRACE);
      expect(next).not.toBe(PARENT);
    }
  });

  it('reads parents of later versions and keeps to version 00 itself', () => {
    const next = tracer.start(`cc-${TRACE}-00f067aa0ba902b7-00-of-the-future`);
    expect(next).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    expect(traceIdOf(next)).toBe(TRACE);
  });

  it('is sampled as its parent is', () => {
    const unsampled = `00-${TRACE}-00f067aa0ba902b7-00`;
    expect([tracer.start(unsampled), tracer.child(unsampled)].map(isSampled)).toEqual([false, false]);
    expect([tracer.start(null), tracer.start(PARENT), tracer.child(PARENT)].every(isSampled)).toBe(true);
    expect(isSampled(tracer.child(`00-${TRACE}-00f067aa0ba902b7-03`))).toBe(true);
  });

  it('makes the same span of the same key in each process, and another one of another', () => {
    const first = tracer.child(PARENT, 'run-1/1');
    expect(new W3cTracer().child(PARENT, 'run-1/1')).toBe(first);
    expect(tracer.child(PARENT, 'run-1/2')).not.toBe(first);
    expect(first).toMatch(FORM);
  });

  it.each(BROKEN)('starts anew for a caller with a broken traceparent: %j', (broken) => {
    const next = tracer.start(broken);
    expect(next).toMatch(FORM);
    expect(traceIdOf(next)).not.toBe(TRACE);
  });

  it.each(['', 'nonsense', PARENT.slice(1)])(
    'makes a whole context below what never was one: %j',
    (nonsense) => {
      expect(tracer.child(nonsense)).toMatch(FORM);
    },
  );
});
