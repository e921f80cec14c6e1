import { AxError } from '../../domain/errors.js';
import { type SlotKey } from '../../domain/trigger.js';

/** Consumer group of the workers on every queue stream. */
export const WORKERS = 'workers';
/** Consumer group of the collectors on the results stream. */
export const COLLECTORS = 'collectors';

/**
 * Every key of one namespace. All share one hash tag, so they live in one slot of a Redis Cluster, and a script may build a key of the
 * same namespace from a value that it reads.
 */
export class RedisKeys {
  private readonly prefix: string;
  /** Set of the pools that were ever published to. */
  readonly pools: string;
  /** Stream of reports. */
  readonly results: string;
  /** Random string that is gone when the data is. */
  readonly epoch: string;
  /** Pub/sub channel of wake-ups. */
  readonly wake: string;
  /** Pub/sub channel of receipts: ids of executions that got one. */
  readonly receipts: string;
  /** Pub/sub channel of stops: event id and reason. */
  readonly stopped: string;
  /** Hash: instance of a worker → its announcement. */
  readonly workers: string;
  /** Sorted set: instance of a worker → end of its announcement's life, epoch ms. */
  readonly workerLives: string;
  /** Hash: instance of a node → its announcement. */
  readonly nodes: string;
  /** Sorted set: instance of a node → end of its announcement's life, epoch ms. */
  readonly nodeLives: string;
  /** String: the epoch in which last outcomes were completed from the store. */
  readonly lastOutcomesFilled: string;
  /** A pool's stream is this and the pool's name. */
  readonly queuePrefix: string;

  /** @throws AxError `refused_start` if the namespace would not make safe keys. */
  constructor(namespace: string) {
    if (!/^[A-Za-z0-9._-]{1,64}$/.test(namespace)) {
      const fix = 'use 1 to 64 letters, digits, ".", "_" or "-"';
      throw new AxError('refused_start', `"${namespace}" is not a namespace: ${fix}`);
    }
    this.prefix = `ax:{${namespace}}:`;
    this.pools = `${this.prefix}pools`;
    this.results = `${this.prefix}results`;
    this.epoch = `${this.prefix}epoch`;
    this.wake = `${this.prefix}wake`;
    this.receipts = `${this.prefix}receipts`;
    this.stopped = `${this.prefix}stopped`;
    this.workers = `${this.prefix}workers`;
    this.workerLives = `${this.prefix}worker-lives`;
    this.nodes = `${this.prefix}nodes`;
    this.nodeLives = `${this.prefix}node-lives`;
    this.lastOutcomesFilled = `${this.prefix}last-filled`;
    this.queuePrefix = `${this.prefix}queue:`;
  }

  /** What CLIENT LIST calls a connection. */
  connection(purpose: 'commands' | 'blocking' | 'wakeup'): string {
    return this.prefix + purpose;
  }

  /** String: the lease's owner, living as long as the lease. */
  lock(name: string): string {
    return `${this.prefix}lock:${name}`;
  }

  /** Stream of a pool's messages. */
  queue(pool: string): string {
    return this.queuePrefix + pool;
  }

  /** Hash: slot lock and state of one run (fields: see run-lua.ts). */
  run({ taskId, kind, slot }: SlotKey): string {
    return `${this.prefix}run:${taskId}:${kind}:${slot}`;
  }

  /** Hash: the wait of an execution's current attempt for its receipts (fields: see receipt-scripts.ts). */
  receiptWait(executionId: string): string {
    return `${this.prefix}receipt-wait:${executionId}`;
  }

  /** Stream: the receipts of that attempt, in the order of coming. */
  receiptsOf(executionId: string): string {
    return `${this.prefix}receipts:${executionId}`;
  }

  /** Sorted set of a task's running marks (see run-lua.ts and `markOf`). */
  running(taskId: string): string {
    return `${this.prefix}running:${taskId}`;
  }

  /** Sorted set of a task's runs that wait their turn (see line-lua.ts). */
  waiting(taskId: string): string {
    return `${this.prefix}waiting:${taskId}`;
  }

  /** Hash: how the newest run of a task ended (fields: see last-outcome-lua.ts). */
  lastOutcome(taskId: string): string {
    return `${this.prefix}last:${taskId}`;
  }

  /** Hash of a task's runs that were asked to stop: execution id → reason. */
  stops(taskId: string): string {
    return `${this.prefix}stops:${taskId}`;
  }
}

/**
 * A run's member in its task's set of running marks: the event id, a blank and the end of the run's key. Not the whole key, since Redis
 * keeps a small sorted set of members up to 64 bytes in a fraction of the time and space. Older versions have the id only.
 */
export const markOf = ({ executionId, kind, slot }: SlotKey & { readonly executionId: string }): string =>
  `${executionId} ${kind}:${slot}`;
