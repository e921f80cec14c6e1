import { describe, expect, it } from 'vitest';
import { tracingOf, tracingProblems } from '../../../src/main/tracing-variables.js';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

describe('tracingOf', () => {
  it.each([
    {},
    { OTEL_EXPORTER_OTLP_ENDPOINT: '' },
    { ...ENDPOINT, OTEL_SDK_DISABLED: 'True' },
    { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' },
    { OTEL_TRACES_SAMPLER: 'always_on' },
  ])('exports nothing with %j', (env) => {
    expect(tracingOf(env, true)).toBeNull();
  });

  it.each([
    ENDPOINT,
    { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://collector/traces' },
    { OTEL_TRACES_EXPORTER: 'otlp' },
  ])('traces every run in batches with %j alone', (env) => {
    expect(tracingOf(env, true)).toEqual({
      protocol: 'http/protobuf',
      sampler: { root: 'on', ratio: 1, isParentBased: true },
      limits: { maxQueueSize: 16_384, maxBatchSize: 2048, delayMs: 5000 },
      keepsFailures: true,
    });
  });

  it('follows the variables', () => {
    const env = {
      ...ENDPOINT,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
      OTEL_BSP_MAX_QUEUE_SIZE: '100',
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '10',
      OTEL_BSP_SCHEDULE_DELAY: '50',
    };
    expect(tracingProblems(env)).toEqual([]);
    expect(tracingOf(env, false)).toEqual({
      protocol: 'http/json',
      sampler: { root: 'ratio', ratio: 0.25, isParentBased: false },
      limits: { maxQueueSize: 100, maxBatchSize: 10, delayMs: 50 },
      keepsFailures: false,
    });
  });
});

describe('tracingProblems', () => {
  it.each([
    ['OTEL_TRACES_EXPORTER', 'zipkin'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
    ['OTEL_TRACES_SAMPLER', 'jaeger_remote'],
    ['OTEL_TRACES_SAMPLER', 'toString'],
    ['OTEL_TRACES_SAMPLER_ARG', 'half'],
    ['OTEL_TRACES_SAMPLER_ARG', '1.5'],
    ['OTEL_BSP_MAX_QUEUE_SIZE', '0'],
    ['OTEL_BSP_MAX_EXPORT_BATCH_SIZE', '2.5'],
    ['OTEL_BSP_SCHEDULE_DELAY', 'soon'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'ftp://collector'],
  ])('names %s=%s', (name, value) => {
    const problems = tracingProblems({ ...ENDPOINT, [name]: value });
    expect(problems).toEqual([expect.stringMatching(new RegExp(`^${name}: `))]);
  });

  it('finds none while nothing is exported', () => {
    expect(tracingProblems({ OTEL_TRACES_SAMPLER: 'jaeger_remote' })).toEqual([]);
  });
});
