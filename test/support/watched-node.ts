import { type Container, type ServiceIdentifier } from 'inversify';
import { HttpExecutor } from '../../src/adapters/executors/http-executor.js';
import { type RedisConnection } from '../../src/adapters/redis/redis-connection.js';
import { type SqlDb } from '../../src/adapters/sql/sql-db.js';
import { SystemRandom } from '../../src/adapters/system/system-random.js';
import { PrometheusMetrics } from '../../src/adapters/telemetry/prometheus-metrics.js';
import { createLogger } from '../../src/adapters/telemetry/pino-logger.js';
import { type Config } from '../../src/main/config.js';
import { createContainer } from '../../src/main/container.js';
import {
  executorsModule,
  redisModule,
  storeModule,
  systemModule,
  telemetryModule,
} from '../../src/main/modules/adapters.js';
import { TOKENS as T } from '../../src/main/tokens.js';
import { type Clock } from '../../src/ports/clock.js';
import { type Queue } from '../../src/ports/queue.js';
import { type Journal } from './journal.js';

/** A node as `ax serve` wires it in a cluster, with a journal between its use cases and its adapters. Nothing runs yet. */
export function watchedNode(parts: {
  readonly config: Config;
  readonly clock: Clock;
  readonly db: SqlDb;
  readonly redis: RedisConnection;
  readonly journal: Journal;
  /** Called with each batch before it is published. */
  readonly onPublish: (...args: Parameters<Queue['publish']>) => Promise<void>;
}): Container {
  const { config, clock, db, redis, journal, onPublish } = parts;
  const logger = createLogger({ level: 'error', isPretty: false, node: 'node-1' });
  const container = createContainer(config, { node: 'node-1', instance: 'node-1/1', version: '0.0.0' }, [
    systemModule(clock, new SystemRandom()),
    telemetryModule(logger, new PrometheusMetrics()),
    executorsModule([journal.watch('executor', new HttpExecutor({ clock, version: '0.0.0' }))]),
    redisModule(redis),
    storeModule(db),
  ]);

  const queue = container.get(T.queue);
  const publish = queue.publish.bind(queue);
  queue.publish = async (messages) => {
    await onPublish(messages);
    return publish(messages);
  };
  const triggers = container.get(T.triggers);
  const decideDue = triggers.decideDue.bind(triggers);
  triggers.decideDue = (request, decide) =>
    decideDue(request, (due) => {
      journal.note('decide', due);
      return decide(due);
    });

  function watch<P extends object>(token: ServiceIdentifier<P>, name: string, always: string[] = []): void {
    const port = container.get(token);
    container.rebind(token).toConstantValue(journal.watch(name, port, always));
  }
  watch(T.lock, 'lock', ['acquire']);
  watch(T.queue, 'queue', ['depth']);
  watch(T.claims, 'claims');
  watch(T.results, 'results');
  watch(T.triggers, 'triggers');
  watch(T.executions, 'executions');
  return container;
}
