import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { type AxProcess } from '../support/ax-process.js';
import { Cluster } from '../support/cluster.js';
import { findPikaPython } from '../support/pika-python.js';
import { Rabbit } from '../support/rabbit.js';
import { until } from '../support/until.js';

const example = (name: string) => fileURLToPath(new URL(`../../examples/${name}`, import.meta.url));

interface ExecutionJson {
  readonly status: string;
  readonly reason: string | null;
  readonly ledger: readonly { readonly kind: string; readonly detail: Readonly<Record<string, unknown>> }[];
}

/** A consumer of the business side, in a process of its own. */
class Consumer {
  readonly lines: string[] = [];
  private readonly exited: Promise<unknown>;

  private constructor(private readonly child: ChildProcess) {
    for (const stream of [child.stdout, child.stderr]) {
      if (stream !== null) createInterface({ input: stream }).on('line', (line) => this.lines.push(line));
    }
    this.exited = once(child, 'exit');
  }

  static async start(program: string, script: string, queue: string): Promise<Consumer> {
    const args = [example(script), inject('amqpUrl'), queue];
    const consumer = new Consumer(spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] }));
    await consumer.says('ready');
    return consumer;
  }

  async says(line: string): Promise<void> {
    const seen = () => `the consumer says "${line}":\n${this.lines.join('\n')}`;
    await until(seen, () => this.lines.includes(line), 30_000);
  }

  async stop(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.exited;
  }
}

describe('tasks of the mq executor whose consumers send receipts', () => {
  let cluster: Cluster;
  let coordinator: AxProcess;
  let rabbit: Rabbit;
  const consumers: Consumer[] = [];

  beforeAll(async () => {
    rabbit = await Rabbit.connect(inject('amqpUrl'));
    cluster = await Cluster.create({ AX_AMQP_URL: inject('amqpUrl') });
    coordinator = await cluster.serve('coordinator');
    await cluster.serve('worker', { AX_PUBLIC_URL: String(coordinator.address()) });
  }, 120_000);

  afterEach(async () => {
    for (const consumer of consumers.splice(0)) await consumer.stop();
  });

  afterAll(async () => {
    const replies = `ax.${cluster.env['AX_NAMESPACE']}.receipts`;
    await cluster.close();
    await rabbit.remove(replies);
    await rabbit.close();
  });

  /** Runs a task once; its execution id. */
  async function run(queue: string, params: string, timeoutSec = 60): Promise<string> {
    const id = `to-${queue}-${params}`;
    const created = await coordinator.api('POST', '/api/tasks', {
      id,
      name: id,
      schedule_type: 'once',
      run_at: Date.now() + 86_400_000,
      timeout_sec: timeoutSec,
      params,
      executor: { type: 'mq', routing_key: queue, ack: 'receipt' },
    });
    expect(created.status).toBe(201);
    const triggered = await coordinator.api<{ execution_id: string }>('POST', `/api/tasks/${id}/run`);
    expect(triggered.status).toBe(202);
    return triggered.json.execution_id;
  }

  async function ended(id: string): Promise<ExecutionJson> {
    let last: ExecutionJson | null = null;
    return until(
      () => `execution ${id} has ended: ${JSON.stringify(last)}`,
      async () => {
        last = (await coordinator.api<ExecutionJson>('GET', `/api/executions/${id}`)).json;
        return ['success', 'fail', 'timeout'].includes(last.status) ? last : null;
      },
      30_000,
    );
  }

  it.each([
    ['Python, over the reply queue', () => findPikaPython(), 'mq-consumer.py'],
    ['Node, to the API', async () => process.execPath, 'mq-consumer.mjs'],
  ])(
    'one in %s: receives, runs, and says what became of it',
    async (_how, program, script) => {
      const queue = await rabbit.queue();
      const consumer = await Consumer.start(await program(), script, queue);
      consumers.push(consumer);
      const [good, bad] = [await run(queue, 'go'), await run(queue, 'fail')];
      const success = await ended(good);
      expect(success).toMatchObject({ status: 'success', reason: null });
      expect(await ended(bad)).toMatchObject({ status: 'fail', reason: 'receipt' });
      expect(JSON.stringify(success.ledger)).toContain('begun');
      expect(JSON.stringify((await ended(bad)).ledger)).toContain('no stock');
      await consumer.says(`run ${good}`);
      await consumer.says(`run ${bad}`);
    },
    90_000,
  );

  it('one that never answers: timeout, and it gets the cancel message', async () => {
    const queue = await rabbit.queue();
    const id = await run(queue, 'nothing', 2);
    const { properties } = await rabbit.take(queue);
    expect(properties).toMatchObject({ type: 'ax.run', messageId: id });
    expect(await ended(id)).toMatchObject({ status: 'timeout', reason: 'deadline' });
    const cancel = await rabbit.take(queue);
    expect(cancel.properties).toMatchObject({
      type: 'ax.cancel',
      correlationId: id,
      headers: { 'x-ax-cancel-reason': 'deadline' },
    });
  }, 60_000);

  it('a queue that nobody made: fail, unroutable, at once', async () => {
    expect(await ended(await run(rabbit.nameFor('nowhere'), 'x'))).toMatchObject({
      status: 'fail',
      reason: 'unroutable',
    });
  }, 60_000);
});
