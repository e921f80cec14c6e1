import { type BatchLimits } from './batched-export.js';
import { type Tracer } from '../../ports/tracer.js';

export interface TracingOptions {
  readonly protocol: 'http/protobuf' | 'http/json';
  readonly sampler: SamplerOptions;
  readonly limits: BatchLimits;
  /** Failed, retried and slow runs are exported although they were not sampled. */
  readonly keepsFailures: boolean;
}

export interface SamplerOptions {
  readonly root: 'on' | 'off' | 'ratio';
  /** Of `ratio`, from 0 to 1. */
  readonly ratio: number;
  /** A trace that the caller of a manual run began is sampled as the caller decided. */
  readonly isParentBased: boolean;
}

export interface Tracing {
  readonly tracer: Tracer;
  /** Exports what is left, within a bound. */
  readonly close: () => Promise<void>;
}
