import { ContainerModule } from 'inversify';
import { AnnounceWorker } from '../../application/worker/announce-worker.js';
import { Heartbeats } from '../../application/worker/heartbeats.js';
import { ReceiptDesk } from '../../application/worker/receipt-desk.js';
import { RunExecution } from '../../application/worker/run-execution.js';
import { WorkerLoop } from '../../application/worker/worker-loop.js';
import { zoneDataVersion } from '../../domain/cron/time-zone.js';
import { lanesOf } from '../../domain/lane.js';
import { TOKENS as T } from '../tokens.js';

/** Life of what a worker says of itself. A look at it comes later than the next word of a worker, so that a silent one is missed twice. */
const ANNOUNCEMENT_MS = 15_000;

/** The worker's loops; needs the queue and the executors. */
export const workerModule = new ContainerModule(({ bind }) => {
  bind(T.heartbeats).toResolvedValue(
    (claims, stops, clock, metrics, logger, config) =>
      new Heartbeats({ claims, stops, clock, metrics, logger, claimTtlMs: config.claimTtlMs }),
    [T.claims, T.stops, T.clock, T.metrics, T.logger, T.config],
  );
  bind(T.receiptDesk).toResolvedValue(
    (receipts, clock, logger) => new ReceiptDesk({ receipts, clock, logger }),
    [T.receipts, T.clock, T.logger],
  );
  bind(T.runExecution).toResolvedValue(
    (
      queue,
      claims,
      heartbeats,
      executors,
      lastOutcomes,
      receipts,
      receiptDesk,
      tokenHash,
      clock,
      random,
      tracer,
      metrics,
      logger,
      identity,
      config,
    ) =>
      new RunExecution({
        queue,
        claims,
        heartbeats,
        executors,
        lastOutcomes,
        receipts,
        receiptDesk,
        tokenHash,
        clock,
        random,
        tracer,
        metrics,
        logger,
        worker: identity.instance,
        claimTtlMs: config.claimTtlMs,
        maxWaiting: config.overlapLimit,
        publicUrl: config.publicUrl,
      }),
    [
      T.queue,
      T.claims,
      T.heartbeats,
      T.executors,
      T.lastOutcomes,
      T.receipts,
      T.receiptDesk,
      T.tokenHash,
      T.clock,
      T.random,
      T.tracer,
      T.metrics,
      T.logger,
      T.identity,
      T.config,
    ],
  );
  bind(T.workerLoop).toResolvedValue(
    (queue, runExecution, heartbeats, clock, metrics, logger, readiness, identity, config) =>
      new WorkerLoop(
        { queue, runExecution, heartbeats, clock, metrics, logger, readiness },
        {
          pools: lanesOf(config.pools, config.shell !== null),
          concurrency: config.concurrency,
          claimTtlMs: config.claimTtlMs,
          drainMs: config.drainMs,
          worker: identity.instance,
        },
      ),
    [T.queue, T.runExecution, T.heartbeats, T.clock, T.metrics, T.logger, T.readiness, T.identity, T.config],
  );
  bind(T.announceWorker).toResolvedValue(
    (registry, clock, logger, worker, executors, identity, config) =>
      new AnnounceWorker(
        { registry, clock, logger, worker },
        {
          instance: identity.instance,
          node: identity.node,
          pools: config.pools,
          executors: [...executors.keys()],
          concurrency: config.concurrency,
          version: identity.version,
          zoneData: zoneDataVersion(),
        },
        ANNOUNCEMENT_MS,
      ),
    [T.workerRegistry, T.clock, T.logger, T.workerLoop, T.executors, T.identity, T.config],
  );
});
