import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AxProcess } from '../support/ax-process.js';
import { Callee } from '../support/callee.js';
import { reply } from '../support/callee-answers.js';
import { Cluster } from '../support/cluster.js';
import { until } from '../support/until.js';

interface Detail {
  readonly id: string;
  readonly status: string;
  readonly reason: string | null;
  readonly error_msg: string | null;
  readonly generation: number;
  readonly attempts: readonly { readonly attempt: number; readonly status: string }[];
  readonly ledger: readonly { readonly kind: string; readonly detail: Readonly<Record<string, unknown>> }[];
}

describe('HTTP tasks that end with a receipt, on real processes', () => {
  let callee: Callee;
  let cluster: Cluster;
  let coordinator: AxProcess;
  const workers = new Map<string, AxProcess>();
  beforeAll(async () => {
    callee = await Callee.start();
    callee.on('/job', reply({ status: 202 }));
    cluster = await Cluster.create({ AX_CLAIM_TTL_MS: '2000', AX_DRAIN_SEC: '1' });
    coordinator = await cluster.serve('coordinator');
    const env = { AX_PUBLIC_URL: coordinator.address() ?? '' };
    for (const name of ['w1', 'w2']) {
      workers.set(name, await cluster.serve('worker', { ...env, AX_NODE_ID: name }));
    }
  }, 120_000);
  afterAll(async () => {
    await cluster.close();
    await callee.close();
  });

  /** Runs a new task once by hand, until the callee has it. */
  async function begin(id: string, fields: Readonly<Record<string, unknown>> = {}) {
    const created = await coordinator.api('POST', '/api/tasks', {
      id,
      name: id,
      schedule_type: 'interval',
      interval: 86_400,
      timeout_sec: 3600,
      executor: { type: 'http', url: `${callee.origin}/job`, ack: 'receipt' },
      ...fields,
    });
    expect(created.status).toBe(201);
    const { json } = await coordinator.api<{ id: string }>('POST', `/api/tasks/${id}/run`);
    const call = await until('the callee has it', () =>
      callee.requests.find(({ headers }) => headers['x-ax-execution-id'] === json.id),
    );
    const worker = await until('the ledger says that it was delivered', async () => {
      const { ledger } = await detail(json.id);
      const delivered = ledger.some(({ kind }) => kind === 'delivered');
      return delivered && String(ledger.find(({ kind }) => kind === 'claimed')?.detail['worker']);
    });
    const { 'x-ax-receipt-url': url, 'x-ax-receipt-token': token } = call.headers;
    const post = (status: string, message?: string) =>
      fetch(String(url), {
        method: 'POST',
        headers: { authorization: `Bearer ${String(token)}`, 'content-type': 'application/json' },
        body: JSON.stringify({ status, ...(message === undefined ? {} : { message }) }),
      });
    return { id: json.id, worker: worker.split('/')[0] ?? '', post };
  }

  const detail = async (id: string) => (await coordinator.api<Detail>('GET', `/api/executions/${id}`)).json;
  const ended = (id: string) =>
    until(
      'it has ended',
      async () => {
        const found = await detail(id);
        return ['success', 'fail', 'timeout', 'skipped'].includes(found.status) && found;
      },
      60_000,
    );
  const callsOf = (id: string) =>
    callee.requests.filter(({ headers }) => headers['x-ax-execution-id'] === id).length;

  it('run until the receipt says how they ended; later ones are late', async () => {
    const run = await begin('receipt');
    expect((await detail(run.id)).status).toBe('running');
    expect((await run.post('progress', 'half of it')).status).toBe(202);
    expect((await run.post('success', '12 rows')).status).toBe(202);
    const end = await ended(run.id);
    expect(end).toMatchObject({
      status: 'success',
      reason: null,
      attempts: [{ attempt: 1, status: 'success' }],
    });
    expect(end.ledger.find(({ kind }) => kind === 'progress')?.detail).toMatchObject({
      message: 'half of it',
    });
    expect((await run.post('fail')).status).toBe(409);
    expect((await detail(run.id)).status).toBe('success');
  }, 60_000);

  it('fail with the message of the receipt', async () => {
    const run = await begin('failing');
    await run.post('fail', 'no disk space');
    expect(await ended(run.id)).toMatchObject({
      status: 'fail',
      reason: 'receipt',
      error_msg: 'no disk space',
    });
  }, 60_000);

  it('end as timeout when none comes', async () => {
    const run = await begin('silent', { timeout_sec: 2 });
    expect(await ended(run.id)).toMatchObject({ status: 'timeout', reason: 'deadline' });
    expect((await run.post('success')).status).toBe(409);
  }, 60_000);

  it('are cancelled while they wait', async () => {
    const run = await begin('cancelled');
    const answer = await coordinator.api('POST', `/api/executions/${run.id}/cancel`);
    expect(answer).toMatchObject({ status: 200, json: { result: 'cancelled' } });
    expect(await ended(run.id)).toMatchObject({ status: 'fail', reason: 'cancelled' });
    expect((await run.post('success')).status).toBe(409);
  }, 60_000);

  it('are waited on by another worker when theirs is killed, and are never called twice', async () => {
    const run = await begin('orphan');
    workers.get(run.worker)?.child.kill('SIGKILL');
    await until(
      'another worker waits',
      async () => (await detail(run.id)).ledger.some(({ kind }) => kind === 'resumed'),
      60_000,
    );
    const rival = await coordinator.api<{ id: string }>('POST', '/api/tasks/orphan/run');
    expect(await ended(rival.json.id)).toMatchObject({ status: 'skipped', reason: 'overlap' });
    expect((await run.post('success')).status).toBe(202);
    expect(await ended(run.id)).toMatchObject({
      status: 'success',
      generation: 2,
      attempts: [{ attempt: 1, status: 'success' }],
    });
    expect(callsOf(run.id)).toBe(1);
    const verified = await coordinator.api<{ violations: unknown[] }>('GET', '/api/verify');
    expect(verified.json.violations).toEqual([]);
  }, 120_000);
});
