import { inject } from 'vitest';
import { SystemRandom } from '../../src/adapters/system/system-random.js';
import { MqExecutor } from '../../src/adapters/executors/mq/mq-executor.js';
import { type MqExecutorSpec } from '../../src/domain/executors/mq-spec.js';
import { AmqpProxy } from '../support/amqp-proxy.js';
import { Rabbit } from '../support/rabbit.js';
import { RecordingLogger } from '../support/recording.js';
import { executorSuite } from './executor.suite.js';

const specTo = (routingKey: string, overrides: Partial<MqExecutorSpec> = {}): MqExecutorSpec => ({
  type: 'mq',
  broker: 'default',
  exchange: '',
  routingKey,
  headers: {},
  ack: 'delivered',
  ...overrides,
});

executorSuite('MqExecutor', async (clock) => {
  const rabbit = await Rabbit.connect(inject('amqpUrl'));
  const [prompt, slow] = [await rabbit.queue(), await rabbit.queue()];
  const proxy = await AmqpProxy.start(inject('amqpUrl'), slow);
  const brokers = new Map([['default', proxy.through(inject('amqpUrl'))]]);
  const logger = new RecordingLogger();
  return {
    executor: new MqExecutor({ brokers, replyQueue: 'unused', clock, random: new SystemRandom(), logger }),
    peer: {
      succeeding: specTo(prompt),
      failing: specTo(`${prompt}-of-nobody`),
      lasting: specTo(slow),
      complete: () => proxy.release(),
      begun: (executionId) => proxy.takenOf(executionId),
      atWork: () => proxy.waiting,
      close: async () => {
        await proxy.close();
        await rabbit.close();
      },
    },
  };
});
