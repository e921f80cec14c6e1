import { hostname } from 'node:os';
import { type Tracing } from '../adapters/telemetry/tracing-options.js';
import { type Logger } from '../ports/logger.js';
import { type Config } from './config.js';
import { type Identity } from './tokens.js';

/** What exports the traces of a node; null if nothing is exported: then the libraries for it are not even loaded. */
export async function openTraces(
  config: Config,
  identity: Identity,
  logger: Logger,
): Promise<Tracing | null> {
  if (config.tracing === null) return null;
  const { openTracing } = await import('../adapters/telemetry/open-tracing.js');
  const resource = {
    'service.name': 'ax',
    'service.namespace': config.namespace,
    'service.version': identity.version,
    'service.instance.id': identity.instance,
    'host.name': hostname(),
    'ax.node': identity.node,
    'ax.role': config.role,
  };
  return openTracing(config.tracing, { resource, logger });
}
