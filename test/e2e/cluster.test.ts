import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AxProcess } from '../support/ax-process.js';
import { Cluster } from '../support/cluster.js';
import { exposedBy, valueIn } from '../support/exposed.js';
import { until } from '../support/until.js';

const TASKS = Number(process.env['AX_TEST_CLUSTER_TASKS'] ?? 300);
const SECONDS = Number(process.env['AX_TEST_CLUSTER_SECONDS'] ?? 20);

interface Call {
  readonly taskId: string;
  readonly slot: number;
  readonly arrivedAt: number;
}

describe('two coordinators and two workers on one MySQL and one Redis', () => {
  const calls: Call[] = [];
  let callee: Server;
  let url: string;
  let cluster: Cluster;
  let coordinators: AxProcess[];

  beforeAll(async () => {
    callee = createServer((request, response) => {
      const arrivedAt = Date.now();
      void json(request).then((body) => {
        const { task_id, schedule_at } = body as { task_id: string; schedule_at: number };
        calls.push({ taskId: task_id, slot: schedule_at, arrivedAt });
        response.end();
      });
    });
    await new Promise<void>((resolve) => callee.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(callee.address() as AddressInfo).port}/`;
    cluster = await Cluster.create();
    coordinators = [await cluster.serve('coordinator'), await cluster.serve('coordinator')];
    await cluster.serve('worker');
    await cluster.serve('worker');
  }, 120_000);

  afterAll(async () => {
    await cluster.close();
    callee.close();
  });

  it(
    `calls every slot of ${TASKS} tasks at 1 s for ${SECONDS} s exactly once, with the leader killed in the middle`,
    async () => {
      const [first, second] = coordinators as [AxProcess, AxProcess];
      const ids = Array.from({ length: TASKS }, (_, i) => `every-second-${i}`);
      await warmUp(second);
      const beganAt = Date.now();
      for (const id of ids) await write(second, 'POST', id, { enabled: false });
      // To enable them takes about as long as to create them did, whatever else the machine does.
      const startAt = Math.ceil(Date.now() / 1000) * 1000 + Math.max(5000, 3 * (Date.now() - beganAt));
      const endAt = startAt + (SECONDS - 1) * 1000;
      for (const id of ids) await write(second, 'PUT', id, { start_at: startAt, end_at: endAt });
      expect(Date.now()).toBeLessThan(startAt);

      await until('half of the time has passed', () => Date.now() > (startAt + endAt) / 2, 120_000);
      const leader = await leaderOf([first, second]);
      leader.signal('SIGKILL');
      const standby = leader === first ? second : first;

      const expected = ids.flatMap((id) =>
        Array.from({ length: SECONDS }, (_, i) => `${id} ${startAt + i * 1000}`),
      );
      const settled = async () => {
        const [row] = await cluster.query<{ n: number }>(
          `SELECT COUNT(*) AS n FROM execution_log WHERE task_id <> 'warm-up' AND status IN ('success', 'fail', 'timeout', 'skipped')`,
        );
        return row?.n === expected.length;
      };
      await until(
        () => `all runs recorded; ${calls.length} of ${expected.length} called`,
        settled,
        SECONDS * 1000 + 60_000,
      );

      const byStatus = await cluster.query(
        `SELECT status, reason, COUNT(*) AS n FROM execution_log WHERE task_id <> 'warm-up' GROUP BY 1, 2`,
      );
      expect(byStatus).toEqual([{ status: 'success', reason: null, n: expected.length }]);
      expect(calls.map(({ taskId, slot }) => `${taskId} ${slot}`).toSorted()).toEqual(expected.toSorted());
      expect(valueIn(await exposedBy(standby), 'ax_leader')).toBe(1);
      print(leader === first ? 'first' : 'second');
    },
    SECONDS * 1000 + 180_000,
  );

  /** A process that has just started needs longer for its first runs than the second between two slots, if others use the machine, too. */
  async function warmUp(ax: AxProcess): Promise<void> {
    await write(ax, 'POST', 'warm-up', { enabled: false, max_concurrent: 1000 });
    const answers = await Promise.all(
      Array.from({ length: TASKS }, () => ax.api('POST', '/api/tasks/warm-up/run')),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202));
    await until('the workers are warm', () => calls.length >= TASKS, 60_000);
    calls.length = 0;
  }

  async function write(
    ax: AxProcess,
    method: 'POST' | 'PUT',
    id: string,
    fields: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const answer = await ax.api(method, method === 'POST' ? '/api/tasks' : `/api/tasks/${id}`, {
      id,
      name: id,
      schedule_type: 'interval',
      interval: 1,
      idempotent: true,
      executor: { type: 'http', url },
      ...fields,
    });
    expect(answer.status).toBe(method === 'POST' ? 201 : 200);
  }

  async function leaderOf(candidates: AxProcess[]): Promise<AxProcess> {
    for (const ax of candidates) {
      if (valueIn(await exposedBy(ax), 'ax_leader') === 1) return ax;
    }
    throw new Error('nobody leads');
  }

  function print(killed: string): void {
    const late = calls.map(({ slot, arrivedAt }) => arrivedAt - slot).toSorted((a, b) => a - b);
    const at = (share: number) => late[Math.min(late.length - 1, Math.floor(late.length * share))];
    process.stdout.write(
      `first byte at the callee − slot: p50 ${at(0.5)} ms, p90 ${at(0.9)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms ` +
        `over ${late.length} calls (the ${killed} coordinator led and was killed)\n`,
    );
  }
});
