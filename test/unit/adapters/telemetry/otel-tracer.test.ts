import { emptyResource } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type ReadableSpan,
  type Sampler,
} from '@opentelemetry/sdk-trace-base';
import { describe, expect, it } from 'vitest';
import { OtelTracer } from '../../../../src/adapters/telemetry/otel-tracer.js';
import { type ListedSpans } from '../../../../src/adapters/telemetry/listed-spans.js';
import { RunSpan } from '../../../../src/adapters/telemetry/run-span.js';
import { UnsampledSpans } from '../../../../src/adapters/telemetry/unsampled-spans.js';
import { isSampled, type SpanFacts, traceIdOf } from '../../../../src/ports/tracer.js';
import { RecordingLogger } from '../../../support/recording.js';

const TIMES = () => ({ startedAt: 1_000_000.25, endedAt: 1_000_001 });
const SPAN: SpanFacts = {
  name: 'attempt',
  kind: 'internal',
  parent: null,
  attributes: { 'ax.attempt': 1, 'ax.reason': undefined },
};
const CALLER = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

function open(sampler: Sampler, keepsFailures = true) {
  const spans: ReadableSpan[] = [];
  const logger = new RecordingLogger();
  const origin = { resource: emptyResource(), scope: { name: 'ax', version: '1' } };
  const add = (...told: Parameters<ListedSpans['add']>) => void spans.push(new RunSpan(...told, origin));
  const tracer = new OtelTracer({ sampler, spans: { add }, keepsFailures, logger });
  return { tracer, logger, spans, names: () => spans.map(({ name }) => name) };
}

describe('OtelTracer', () => {
  it('exports a span under the ids of its context, with its parent, times and links', () => {
    const { tracer, spans } = open(new AlwaysOnSampler());
    const parent = tracer.start(CALLER);
    const context = tracer.child(parent);
    tracer.record(context, TIMES, () => ({ ...SPAN, parent, links: [CALLER] }));
    const [span] = spans;
    expect(`00-${span?.spanContext().traceId}-${span?.spanContext().spanId}-01`).toBe(context);
    expect(span?.parentSpanContext?.spanId).toBe(parent.split('-')[2]);
    expect(span?.links.map((link) => link.context.spanId)).toEqual(['00f067aa0ba902b7']);
    expect([span?.startTime, span?.endTime, span?.duration]).toEqual([
      [1000, 250_000],
      [1000, 1_000_000],
      [0, 750_000],
    ]);
    expect(span?.attributes).toEqual({ 'ax.attempt': 1 });
  });

  it('takes a parent of another trace for none', () => {
    const { tracer, spans } = open(new AlwaysOnSampler());
    tracer.record(tracer.start(null), TIMES, () => ({ ...SPAN, parent: CALLER }));
    expect(spans[0]?.parentSpanContext).toBeUndefined();
  });

  it('tells of an error as status, type and event, without secrets', () => {
    const { tracer, spans } = open(new AlwaysOnSampler());
    const message = 'answered 302 to https://me:hush@there/x?key=hush';
    tracer.record(tracer.start(null), TIMES, () => ({ ...SPAN, error: { type: '302', message } }));
    expect(spans[0]).toMatchObject({ status: { code: 2 }, attributes: { 'error.type': '302' } });
    expect(spans[0]?.events[0]).toMatchObject({ name: 'exception', attributes: { 'exception.type': '302' } });
    expect(JSON.stringify([spans[0]?.status, spans[0]?.events])).not.toContain('hush');
  });

  it('decides at the start, and follows a caller if its sampler does', () => {
    const off = new ParentBasedSampler({ root: new AlwaysOffSampler() });
    const { tracer } = open(off);
    const own = tracer.start(null);
    expect([own, tracer.child(own), tracer.start(CALLER)].map(isSampled)).toEqual([false, false, true]);
    expect(isSampled(open(new AlwaysOffSampler()).tracer.start(CALLER))).toBe(false);
    expect(traceIdOf(tracer.start(CALLER))).toBe(traceIdOf(CALLER));
  });

  it('holds unsampled spans until the run is kept, and exports what comes after it', () => {
    const { tracer, spans, names } = open(new AlwaysOffSampler());
    const context = tracer.start(null);
    const record = (name: string) => tracer.record(tracer.child(context), TIMES, () => ({ ...SPAN, name }));
    record('before');
    expect(names()).toEqual([]);
    tracer.keep(context);
    record('after');
    tracer.forget(context);
    record('late');
    expect(names()).toEqual(['before', 'after', 'late']);
    expect(spans.every((span) => span.spanContext().traceFlags === 1)).toBe(true);
  });

  it('forgets those of a run that was not kept', () => {
    const { tracer, names } = open(new AlwaysOffSampler());
    const context = tracer.start(null);
    tracer.record(context, TIMES, () => SPAN);
    tracer.forget(context);
    tracer.keep(context);
    expect(names()).toEqual([]);
  });

  it('does not even describe what nobody wants to know', () => {
    const { tracer } = open(new AlwaysOffSampler(), false);
    tracer.record(tracer.start(null), TIMES, () => expect.unreachable());
  });

  it('never throws: a step that cannot be described is a line in the log', () => {
    const { tracer, logger } = open(new AlwaysOnSampler());
    tracer.record(tracer.start(null), TIMES, () => {
      throw new Error('a bug');
    });
    tracer.record('nonsense', TIMES, () => SPAN);
    expect(logger.lines.map(([level]) => level)).toEqual(['error']);
  });
});

describe('UnsampledSpans', () => {
  it('gives the oldest traces up when there are too many spans or traces, kept ones included', () => {
    const released: string[] = [];
    const held = new UnsampledSpans<string>((span) => void released.push(span), { spans: 4, traces: 3 });
    for (const trace of ['a', 'b', 'c', 'd']) held.add(trace, `${trace}1`);
    for (const trace of ['b', 'c', 'd', 'a']) held.keep(trace);
    expect(released).toEqual(['b1', 'c1', 'd1']);
    for (let n = 0; n < 9; n++) held.add('e', `e${n}`);
    held.keep('e');
    expect(released.length).toBeLessThanOrEqual(3 + 4);
  });
});
