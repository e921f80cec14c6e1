import { type SamplerOptions, type TracingOptions } from '../adapters/telemetry/tracing-options.js';

/** Names of OTEL_TRACES_SAMPLER. */
const SAMPLERS: Readonly<Record<string, Omit<SamplerOptions, 'ratio'>>> = {
  always_on: { root: 'on', isParentBased: false },
  always_off: { root: 'off', isParentBased: false },
  traceidratio: { root: 'ratio', isParentBased: false },
  parentbased_always_on: { root: 'on', isParentBased: true },
  parentbased_always_off: { root: 'off', isParentBased: true },
  parentbased_traceidratio: { root: 'ratio', isParentBased: true },
};
const DEFAULT_SAMPLER = 'parentbased_always_on';
const PROTOCOLS = ['http/protobuf', 'http/json'] as const;
/** A full batch of the tick makes two spans for each of its thousand events at once, which the libraries' own default could not hold. */
const MAX_QUEUE_SIZE = 16_384;
/** A run is eight spans of 0.3 KB: half a megabyte a request. */
const MAX_BATCH_SIZE = 2048;
const DELAY_MS = 5000;

/** Null: nothing is exported. The variables that name and address what is exported are read by the libraries. */
export function tracingOf(env: NodeJS.ProcessEnv, keepsFailures: boolean): TracingOptions | null {
  if (!isExporting(env)) return null;
  const sampler = SAMPLERS[env['OTEL_TRACES_SAMPLER'] || DEFAULT_SAMPLER];
  const protocol = PROTOCOLS.find((known) => known === protocolOf(env));
  if (sampler === undefined || protocol === undefined) return null;
  return {
    protocol,
    sampler: { ...sampler, ratio: Number(env['OTEL_TRACES_SAMPLER_ARG'] || 1) },
    limits: {
      maxQueueSize: Number(env['OTEL_BSP_MAX_QUEUE_SIZE'] || MAX_QUEUE_SIZE),
      maxBatchSize: Number(env['OTEL_BSP_MAX_EXPORT_BATCH_SIZE'] || MAX_BATCH_SIZE),
      delayMs: Number(env['OTEL_BSP_SCHEDULE_DELAY'] || DELAY_MS),
    },
    keepsFailures,
  };
}

/** What is wrong with the `OTEL_` variables that ax reads; nothing while nothing is exported. */
export function tracingProblems(env: NodeJS.ProcessEnv): string[] {
  if (!isExporting(env)) return [];
  const exporter = env['OTEL_TRACES_EXPORTER'] || 'otlp';
  const sampler = env['OTEL_TRACES_SAMPLER'] || DEFAULT_SAMPLER;
  const ratio = Number(env['OTEL_TRACES_SAMPLER_ARG'] || 1);
  return [
    exporter === 'otlp' ? '' : `OTEL_TRACES_EXPORTER: ax knows otlp and none`,
    PROTOCOLS.some((known) => known === protocolOf(env))
      ? ''
      : `OTEL_EXPORTER_OTLP_PROTOCOL: ax exports by ${PROTOCOLS.join(' and ')}`,
    Object.hasOwn(SAMPLERS, sampler)
      ? ''
      : `OTEL_TRACES_SAMPLER: use one of ${Object.keys(SAMPLERS).join(', ')}`,
    ratio >= 0 && ratio <= 1 ? '' : 'OTEL_TRACES_SAMPLER_ARG: must be from 0 to 1',
    ...['OTEL_BSP_MAX_QUEUE_SIZE', 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 'OTEL_BSP_SCHEDULE_DELAY'].map((key) =>
      isSize(env[key] || '1') ? '' : `${key}: is not a whole number above 0`,
    ),
    ...['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'].map((key) =>
      isHttpUrl(env[key]) ? '' : `${key}: give a URL such as http://collector:4318`,
    ),
  ].filter((problem) => problem !== '');
}

/** Asked for by an address or by name, as the default of the specification, a collector on this machine, would flood every ax without one. */
function isExporting(env: NodeJS.ProcessEnv): boolean {
  const exporter = env['OTEL_TRACES_EXPORTER'] || null;
  if (env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true' || exporter === 'none') return false;
  const endpoint = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] || env['OTEL_EXPORTER_OTLP_ENDPOINT'] || null;
  return exporter !== null || endpoint !== null;
}

const protocolOf = (env: NodeJS.ProcessEnv): string =>
  env['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] || env['OTEL_EXPORTER_OTLP_PROTOCOL'] || 'http/protobuf';

const isSize = (text: string): boolean => Number.isInteger(Number(text)) && Number(text) > 0;

const isHttpUrl = (text = ''): boolean =>
  text === '' || (URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol));
