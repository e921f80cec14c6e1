import { type MqExecutorSpec } from '../../src/domain/executors/mq-spec.js';

/** To a queue of this name, through the default exchange. */
export const specTo = (routingKey: string, overrides: Partial<MqExecutorSpec> = {}): MqExecutorSpec => ({
  type: 'mq',
  broker: 'default',
  exchange: '',
  routingKey,
  headers: {},
  ack: 'delivered',
  ...overrides,
});
