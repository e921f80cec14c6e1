import { resourceFromAttributes } from '@opentelemetry/resources';
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EncodedSpans } from '../../../../src/adapters/telemetry/encoded-spans.js';
import { ListedSpans } from '../../../../src/adapters/telemetry/listed-spans.js';
import { type SpanFacts } from '../../../../src/ports/tracer.js';

const hex = (digits: number) =>
  fc.bigInt(1n, 16n ** BigInt(digits) - 1n).map((id) => id.toString(16).padStart(digits, '0'));
const spanId = hex(16);
const context = fc
  .tuple(hex(32), spanId, fc.constantFrom('00', '01'))
  .map(([trace, span, flags]) => `00-${trace}-${span}-${flags}`);
/** Around the lengths at which a length takes one more byte, and of all kinds of characters, halves of pairs too. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) }),
  fc.integer({ min: 100, max: 140 }).map((length) => 'x'.repeat(length)),
  fc.constantFrom(16_200, 16_384).map((length) => 'x'.repeat(length)),
);
const value = fc.oneof(
  text,
  fc.boolean(),
  fc.maxSafeInteger(),
  fc.integer(),
  fc.double(),
  fc.constant(undefined),
);
const ms = fc.oneof(
  fc.double({ min: 0, max: 4e12, noNaN: true }),
  fc.maxSafeNat().map((n) => n % 4e12),
);

const facts = (own: string): fc.Arbitrary<SpanFacts> =>
  fc.record({
    name: text,
    kind: fc.constantFrom('internal', 'producer', 'consumer', 'client'),
    parent: fc.oneof(
      fc.constant(null),
      spanId.map((id) => `${own.slice(0, 36)}${id}-01`),
      context,
    ),
    attributes: fc.dictionary(fc.string({ minLength: 1, maxLength: 40 }), value, { maxKeys: 12 }),
    error: fc.option(fc.record({ type: text, message: fc.option(text) }), { nil: undefined }),
    links: fc.array(context, { maxLength: 3 }),
  });

const step = context.chain((own) =>
  fc.record({ own: fc.constant(own), startedAt: ms, endedAt: ms, facts: facts(own) }),
);

describe('EncodedSpans', () => {
  it('writes what the serializer of OpenTelemetry writes, byte for byte', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 5 }), fc.string(), (steps, version) => {
        const origin = {
          resource: resourceFromAttributes({ 'service.name': 'ax', 'ax.node': 'Knoten-ä' }),
          scope: { name: 'ax', version },
        };
        const [listed, encoded] = [new ListedSpans(origin), new EncodedSpans(origin)];
        for (const { own, facts: told, ...times } of steps)
          for (const batch of [listed, encoded]) batch.add(own, times, told);
        const expected = ProtobufTraceSerializer.serializeRequest(listed.take());
        const written = encoded.take();
        expect(Buffer.compare(written, expected ?? new Uint8Array())).toBe(0);
      }),
      { numRuns: 300 },
    );
  });
});
