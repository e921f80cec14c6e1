import { Container, type ContainerModule } from 'inversify';
import { type Config } from './config.js';
import { commonModule } from './modules/common.js';
import { coordinatorModule } from './modules/coordinator.js';
import { workerModule } from './modules/worker.js';
import { type Identity, TOKENS } from './tokens.js';

/** What a role runs. */
export const hasCoordinator = ({ role }: Config): boolean => role !== 'worker';
export const hasWorker = ({ role }: Config): boolean => role !== 'coordinator';

/** Wires one node; connects and starts nothing. */
export function createContainer(
  config: Config,
  identity: Identity,
  adapters: readonly ContainerModule[],
): Container {
  const container = new Container({ defaultScope: 'Singleton' });
  container.bind(TOKENS.config).toConstantValue(config);
  container.bind(TOKENS.identity).toConstantValue(identity);
  container.load(
    ...adapters,
    commonModule,
    ...(hasCoordinator(config) ? [coordinatorModule] : []),
    ...(hasWorker(config) ? [workerModule] : []),
  );
  return container;
}
