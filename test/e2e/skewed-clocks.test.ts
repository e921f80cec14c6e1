import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type AxProcess } from '../support/ax-process.js';
import { Cluster } from '../support/cluster.js';
import { offsetText, settableClock } from '../support/faketime.js';
import { exposedBy, valueIn } from '../support/exposed.js';
import { until } from '../support/until.js';

const SLOTS = 24;
/** Far below the ten seconds that the clocks are off. */
const TOLERANCE_MS = 3000;
const EARLY_MS = 50;

interface Call {
  readonly executionId: string;
  readonly slot: number;
  readonly firedAt: number;
  readonly arrivedAt: number;
}

describe('a coordinator 10 s ahead and a worker 10 s behind, whose clocks are set the other way meanwhile (SO-02)', () => {
  const calls: Call[] = [];
  let callee: Server;
  let redis: Redis;
  let cluster: Cluster;
  let folder: string;
  let nodes: { coordinator: AxProcess; worker: AxProcess };
  /** Redis − clock of this test. */
  let referenceAheadMs: number;

  const now = () => Date.now() + referenceAheadMs;
  const file = (role: string) => path.join(folder, role);
  async function setClocks(offsets: {
    readonly coordinator: number;
    readonly worker: number;
  }): Promise<void> {
    for (const [role, seconds] of Object.entries(offsets)) await writeFile(file(role), offsetText(seconds));
  }

  /** The reading with the shortest way there and back: on a loaded machine a single one may be off by more than EARLY_MS. */
  async function measureAhead(): Promise<number> {
    const readings: { readonly tookMs: number; readonly aheadMs: number }[] = [];
    for (let n = 0; n < 20; n += 1) {
      const from = Date.now();
      const [seconds, micros] = await redis.time();
      const tookMs = Date.now() - from;
      readings.push({ tookMs, aheadMs: Number(seconds) * 1000 + Number(micros) / 1000 - from - tookMs / 2 });
    }
    return readings.sort((a, b) => a.tookMs - b.tookMs)[0]?.aheadMs ?? NaN;
  }

  beforeAll(async () => {
    redis = new Redis(inject('redisUrl'));
    referenceAheadMs = await measureAhead();
    callee = createServer((request, response) => {
      const arrivedAt = now();
      void json(request).then((body) => {
        const read = body as { execution_id: string; schedule_at: number; fired_at: number };
        calls.push({
          executionId: read.execution_id,
          slot: read.schedule_at,
          firedAt: read.fired_at,
          arrivedAt,
        });
        response.end();
      });
    });
    await new Promise<void>((resolve) => callee.listen(0, '127.0.0.1', resolve));
    folder = await mkdtemp(path.join(tmpdir(), 'ax-test-clocks-'));
    await setClocks({ coordinator: 10, worker: -10 });
    cluster = await Cluster.create();
    nodes = {
      coordinator: await cluster.serve('coordinator', await settableClock(file('coordinator'))),
      worker: await cluster.serve('worker', await settableClock(file('worker'))),
    };
  }, 180_000);

  afterAll(async () => {
    await cluster.close();
    callee.close();
    await redis.quit();
    await rm(folder, { recursive: true });
  });

  it('fires every slot of a task at 1 s on time, and its records show the right instants', async () => {
    expect(await offsetOf(nodes.coordinator)).toBeCloseTo(-10, 0);
    expect(await offsetOf(nodes.worker)).toBeCloseTo(10, 0);
    const startAt = Math.ceil(now() / 1000) * 1000 + 2000;
    const { coordinator } = nodes;
    const created = await coordinator.api<{ created_at: string }>('POST', '/api/tasks', {
      id: 'every-second',
      name: 'Every second',
      schedule_type: 'interval',
      interval: 1,
      start_at: startAt,
      end_at: startAt + (SLOTS - 1) * 1000,
      idempotent: true,
      executor: { type: 'http', url: `http://127.0.0.1:${(callee.address() as AddressInfo).port}/` },
    });
    expect(created.status).toBe(201);
    expect(Math.abs(Date.parse(created.json.created_at) - now())).toBeLessThan(TOLERANCE_MS);

    await until('half of the slots were called', () => calls.length >= SLOTS / 2, 60_000);
    await setClocks({ coordinator: -10, worker: 10 });
    await until(
      () => `${calls.length} of ${SLOTS} slots were called`,
      () => calls.length >= SLOTS,
      60_000,
    );

    expect(calls.map(({ slot }) => slot)).toEqual(
      Array.from({ length: SLOTS }, (_, n) => startAt + n * 1000),
    );
    for (const { slot, firedAt, arrivedAt } of calls) {
      expect(isNear(firedAt, slot), `fired at ${firedAt - slot} ms from its slot`).toBe(true);
      expect(isNear(arrivedAt, slot), `arrived at ${arrivedAt - slot} ms from its slot`).toBe(true);
    }
    for (const { executionId, slot, arrivedAt } of [calls[0], calls.at(-1)] as Call[]) {
      const { started_at, finished_at } = await recorded(executionId);
      expect(isNear(started_at, slot), `started ${started_at - slot} ms from its slot`).toBe(true);
      expect(started_at).toBeLessThanOrEqual(arrivedAt + EARLY_MS);
      expect(finished_at).toBeGreaterThanOrEqual(arrivedAt - EARLY_MS);
    }
    // The clocks were set indeed, and no step of them was a reason to step.
    await until(
      'both see it',
      async () => {
        const seen = await Promise.all([offsetOf(nodes.coordinator), offsetOf(nodes.worker)]);
        return Math.abs(seen[0] - 10) < 1 && Math.abs(seen[1] + 10) < 1;
      },
      30_000,
    );
    for (const node of Object.values(nodes)) {
      expect(node.lines.filter(({ msg }) => msg.startsWith("this machine's clock is off"))).toHaveLength(1);
      expect(node.lines.filter(({ msg }) => msg.startsWith('time was set'))).toEqual([]);
    }
    print();
  }, 180_000);

  const isNear = (instant: number, slot: number) =>
    instant >= slot - EARLY_MS && instant <= slot + TOLERANCE_MS;

  const recorded = (executionId: string) =>
    until('the run is recorded', async () => {
      const { json: run } = await nodes.coordinator.api<{
        status: string;
        started_at: number;
        finished_at: number;
      }>('GET', `/api/executions/${executionId}`);
      return run.status === 'success' ? run : null;
    });

  async function offsetOf(node: AxProcess): Promise<number> {
    return valueIn(await exposedBy(node), 'ax_clock_offset_seconds') ?? NaN;
  }

  function print(): void {
    const late = calls.map(({ slot, arrivedAt }) => arrivedAt - slot).toSorted((a, b) => a - b);
    const at = (share: number) =>
      late[Math.min(late.length - 1, Math.floor(late.length * share))]?.toFixed(0);
    process.stdout.write(
      `clocks 10 s off, call − slot: least ${at(0)} ms, p50 ${at(0.5)} ms, most ${at(1)} ms over ${late.length} calls\n`,
    );
  }
});
