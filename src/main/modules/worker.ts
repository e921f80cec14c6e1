import { ContainerModule } from 'inversify';
import { AnnounceWorker } from '../../application/worker/announce-worker.js';
import { Heartbeats } from '../../application/worker/heartbeats.js';
import { ReceiptDesk } from '../../application/worker/receipt-desk.js';
import { RunExecution } from '../../application/worker/run-execution.js';
import { WorkerLoop } from '../../application/worker/worker-loop.js';
import { zoneDataVersion } from '../../domain/cron/time-zone.js';
import { lanesOf } from '../../domain/lane.js';
import { take } from '../take.js';
import { TOKENS as T } from '../tokens.js';

/** Life of what a worker says of itself. A look at it comes later than the next word of a worker, so that a silent one is missed twice. */
const ANNOUNCEMENT_MS = 15_000;

/** The worker's loops; needs the queue and the executors. */
export const workerModule = new ContainerModule(({ bind }) => {
  bind(T.heartbeats).toDynamicValue((context) => {
    const { config, ...deps } = take(context, 'claims', 'stops', 'clock', 'metrics', 'logger', 'config');
    return new Heartbeats({ ...deps, claimTtlMs: config.claimTtlMs });
  });
  bind(T.receiptDesk).toDynamicValue(
    (context) => new ReceiptDesk(take(context, 'receipts', 'clock', 'logger')),
  );
  bind(T.runExecution).toDynamicValue((context) => {
    const { identity, config, ...deps } = take(
      context,
      'queue',
      'claims',
      'heartbeats',
      'executors',
      'lastOutcomes',
      'receipts',
      'receiptDesk',
      'tokenHash',
      'clock',
      'random',
      'tracer',
      'metrics',
      'logger',
      'identity',
      'config',
    );
    const { claimTtlMs, publicUrl, overlapLimit: maxWaiting } = config;
    return new RunExecution({ ...deps, worker: identity.instance, claimTtlMs, maxWaiting, publicUrl });
  });
  bind(T.workerLoop).toDynamicValue((context) => {
    const { identity, config, ...deps } = take(
      context,
      'queue',
      'runExecution',
      'heartbeats',
      'clock',
      'metrics',
      'logger',
      'readiness',
      'identity',
      'config',
    );
    const { concurrency, claimTtlMs, drainMs } = config;
    const pools = lanesOf(config.pools, config.shell !== null);
    return new WorkerLoop(deps, { pools, concurrency, claimTtlMs, drainMs, worker: identity.instance });
  });
  bind(T.announceWorker).toDynamicValue((context) => {
    const { workerRegistry, workerLoop, executors, identity, config, ...deps } = take(
      context,
      'workerRegistry',
      'clock',
      'logger',
      'workerLoop',
      'executors',
      'identity',
      'config',
    );
    return new AnnounceWorker(
      { ...deps, registry: workerRegistry, worker: workerLoop },
      {
        ...identity,
        pools: config.pools,
        executors: [...executors.keys()],
        concurrency: config.concurrency,
        zoneData: zoneDataVersion(),
      },
      ANNOUNCEMENT_MS,
    );
  });
});
