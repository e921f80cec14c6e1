import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MqExecutor } from '../../src/adapters/executors/mq/mq-executor.js';
import { SystemClock } from '../../src/adapters/system/system-clock.js';
import { SystemRandom } from '../../src/adapters/system/system-random.js';
import { OwnServer } from '../faults/own-server.js';
import { specTo } from '../support/mq-spec.js';
import { Rabbit } from '../support/rabbit.js';
import { RecordingLogger } from '../support/recording.js';
import { rabbitmq } from '../support/servers/rabbitmq.js';
import { until } from '../support/until.js';
import { buildRequest } from './executor.suite.js';

const SERVER_MS = 150_000;
const clock = new SystemClock();
const random = new SystemRandom();

/** With a broker of its own, since all clients of a broker share its alarms and its restarts. */
describe('MqExecutor', () => {
  let broker: OwnServer;
  let executor: MqExecutor;

  beforeAll(async () => {
    broker = await OwnServer.start(rabbitmq);
    const brokers = new Map([['default', broker.url]]);
    const logger = new RecordingLogger();
    executor = new MqExecutor({ brokers, replyQueue: 'unused', clock, random, logger });
  }, SERVER_MS);

  afterAll(async () => {
    await executor.close();
    await broker.remove();
  });

  const publish = (queue: string, timeoutMs = 60_000) =>
    executor.execute(buildRequest(specTo(queue), { timeoutMs }), new AbortController().signal);

  it(
    'waits while an alarm blocks the broker: fail, blocked at the deadline, and goes on after it',
    async () => {
      const rabbit = await Rabbit.connect(broker.url);
      const queue = await rabbit.queue();
      expect(await publish(queue)).toMatchObject({ status: 'success' });
      await broker.script('control', 'set_vm_memory_high_watermark', '0.0000001');
      const first = await until('the broker blocks a message', async () => {
        const outcome = await publish(queue, 1000);
        return outcome.status === 'success' ? null : outcome;
      });
      expect(first).toMatchObject({ status: 'fail', reason: 'blocked' });
      const second = await publish(queue, 300);
      expect(second).toMatchObject({ status: 'fail', reason: 'blocked' });
      expect(second.evidence).not.toHaveProperty('may_have_arrived');
      const before = await rabbit.count(queue);
      const waiting = publish(queue);
      await broker.script('control', 'set_vm_memory_high_watermark', '0.9');
      expect(await waiting).toMatchObject({ status: 'success' });
      const late = 'may_have_arrived' in first.evidence ? 1 : 0;
      const arrived = (await rabbit.count(queue)) - before;
      expect(arrived).toBeGreaterThanOrEqual(1);
      expect(arrived).toBeLessThanOrEqual(1 + late);
      await rabbit.close();
    },
    SERVER_MS,
  );

  it(
    'loses nothing that was confirmed when the broker is killed in the middle, and finds it again',
    async () => {
      const queue = `ax-test-restart-${random.next()}`;
      const setup = await Rabbit.connect(broker.url);
      await setup.declare(queue);
      const confirmed = new Set<string>();
      const unsure = new Set<string>();
      let isOver = false;
      let afterRestart = 0;
      let isBack = false;
      const publishing = Array.from({ length: 8 }, async () => {
        while (!isOver) {
          const request = buildRequest(specTo(queue), { timeoutMs: 5000 });
          const outcome = await executor.execute(request, new AbortController().signal);
          if (outcome.status === 'success') confirmed.add(request.executionId);
          else if (outcome.evidence['may_have_arrived'] === true) unsure.add(request.executionId);
          if (outcome.status === 'success' && isBack) afterRestart += 1;
        }
      });
      await until('messages are confirmed', () => confirmed.size > 100);
      await broker.kill();
      await broker.restart();
      isBack = true;
      await until('messages are confirmed again', () => afterRestart > 100, 60_000);
      isOver = true;
      await Promise.all(publishing);
      const rabbit = await Rabbit.connect(broker.url);
      const ids = await rabbit.drain(queue);
      const arrived = new Set(ids);
      expect([...confirmed].filter((id) => !arrived.has(id))).toEqual([]);
      expect([...arrived].filter((id) => !confirmed.has(id) && !unsure.has(id))).toEqual([]);
      expect(ids).toHaveLength(arrived.size);
      await rabbit.close();
    },
    SERVER_MS,
  );
});
