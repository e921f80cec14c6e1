import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { ADMIN_TOKEN, AxProcess } from '../support/ax-process.js';
import { Callee } from '../support/callee.js';
import { redirect, reply } from '../support/callee-answers.js';
import { Cluster } from '../support/cluster.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';

/** Part of everything that must not be printed. */
const SECRET = 'hush4711';

const printed = (ax: AxProcess): string =>
  [...ax.text, ...ax.lines.map((line) => JSON.stringify(line))].join('\n');

describe('secrets of a whole life', () => {
  let callee: Callee;
  let cluster: Cluster;
  let proxies: TcpProxy[];
  let ax: AxProcess;
  beforeAll(async () => {
    callee = await Callee.start();
    cluster = await Cluster.create();
    proxies = [await TcpProxy.start(inject('mysqlUrl')), await TcpProxy.start(inject('redisUrl'))];
  }, 120_000);
  afterAll(async () => {
    await cluster.close();
    await Promise.all([callee.close(), ...proxies.map((proxy) => proxy.close())]);
  });

  it('is not in what a node prints at level debug, from its start over runs, errors and outages to its end', async () => {
    const [mysql, redis] = proxies as [TcpProxy, TcpProxy];
    ax = await cluster.serve('all', {
      AX_LOG_LEVEL: 'debug',
      AX_MYSQL_URL: mysql.through(String(cluster.env['AX_MYSQL_URL'])),
      AX_REDIS_URL: redis.through(String(cluster.env['AX_REDIS_URL'])),
      AX_AMQP_URL: `amqp://${SECRET}:${SECRET}@${new URL(inject('amqpUrl')).host}`,
      AX_AMQP_AWAY_URL: `amqp://guest:${SECRET}@127.0.0.1:1/${SECRET}`,
      AX_SECRET_ORDERS: SECRET,
      AX_PUBLIC_URL: callee.origin,
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://user:${SECRET}@127.0.0.1:1/${SECRET}`,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=${SECRET}`,
      OTEL_BSP_SCHEDULE_DELAY: '100',
    });
    callee.on('/away', redirect(302, `${callee.origin}/elsewhere?token=${SECRET}`));
    callee.on('/told', reply({ status: 500, body: SECRET }));
    callee.on('/receipt', reply({ status: 202 }));
    const http = (path: string) => ({
      type: 'http',
      url: `${callee.origin}${path}?key=${SECRET}`,
      headers: { authorization: `Bearer ${SECRET}` },
    });
    const signature = { secret: 'ORDERS' };
    const hooks = { post: { on: 'always', retry_count: 1, retry_interval: 1, target: http('/told') } };
    const tasks = {
      away: { executor: { ...http('/away'), signature }, hooks },
      refused: { executor: { ...http('/'), url: `http://127.0.0.1:1/?key=${SECRET}` } },
      unsigned: { executor: { ...http('/'), signature: { secret: 'NONE' } } },
      receipt: { executor: { ...http('/receipt'), ack: 'receipt' }, timeout_sec: 2 },
      mq: { executor: { type: 'mq', routing_key: 'nowhere', headers: { key: SECRET } } },
      mq_away: { executor: { type: 'mq', broker: 'away', routing_key: 'nowhere' } },
    };
    for (const [id, fields] of Object.entries(tasks)) {
      const task = { id, name: id, schedule_type: 'once', run_at: '2100-01-01T00:00:00Z', timeout_sec: 5 };
      const policy = { params: { key: SECRET }, idempotent: true, retry_count: 1, retry_interval: 1 };
      const created = await ax.api('POST', '/api/tasks', { ...task, ...policy, ...fields });
      expect(created.status, JSON.stringify(created.json)).toBe(201);
      await ax.api('POST', `/api/tasks/${id}/run`, { params: { key: SECRET } });
    }
    await ax.api('GET', `/api/tasks?token=${SECRET}`);
    await fetch(`${ax.address()}/api/tasks`, { headers: { authorization: `Bearer ${SECRET}` } });
    const finished = () => ax.lines.filter(({ msg }) => msg === 'finished').length;
    await until(
      () => `all have ended:\n${ax.output()}`,
      () => finished() === 6,
      60_000,
    );
    await until('the post-hook was given up', () => ax.lines.some(({ msg }) => msg === 'post-hook given_up'));
    await until('the collector is away', () =>
      ax.lines.some(({ msg }) => msg.startsWith('traces not exported')),
    );

    for (const proxy of proxies) proxy.cut();
    await ax.api('POST', '/api/tasks/away/run', { params: { key: SECRET } });
    await until('both are missed', () => {
      const text = printed(ax);
      return text.includes('tick failed') && text.includes('Redis connection failed');
    });
    mysql.restore();
    redis.restore();
    await until('ready again', async () => (await fetch(`${ax.address()}/readyz`)).ok, 30_000);
    await ax.api('POST', '/api/tasks/away/run');
    await until('one more has ended', () => finished() > 6, 30_000);
    expect(await ax.stop()).toBe(0);

    const tokens = callee.requests.flatMap(({ headers }) => headers['x-ax-receipt-token'] ?? []);
    expect(tokens.length).toBeGreaterThan(0);
    const output = printed(ax);
    expect(output).toContain('302');
    for (const secret of [SECRET, ...tokens, ADMIN_TOKEN])
      expect(linesWith(output, secret), secret).toEqual([]);
  }, 180_000);

  it.each([
    ['MySQL', { AX_MYSQL_URL: `mysql://ax:${SECRET}@127.0.0.1:1/ax` }],
    ['Redis', { AX_REDIS_URL: `redis://ax:${SECRET}@127.0.0.1:1` }],
    ['a form', { AX_MYSQL_URL: `mysqlx://ax:${SECRET}@host/ax`, AX_REDIS_URL: `http://:${SECRET}@host` }],
    ['AMQP', { AX_AMQP_URL: `http://ax:${SECRET}@host` }],
    ['a collector', { OTEL_EXPORTER_OTLP_ENDPOINT: `ftp://ax:${SECRET}@host` }],
    ['a token', { AX_ADMIN_TOKEN: `${SECRET} with blanks` }],
  ])(
    'is not in what a start that fails for %s says',
    async (_what, env) => {
      const failed = AxProcess.spawn(['serve'], {
        ...cluster.env,
        AX_LOG_LEVEL: 'debug',
        AX_HTTP_PORT: '0',
        ...env,
      });
      expect(await failed.exit()).not.toBe(0);
      expect(failed.output()).not.toBe('');
      expect(linesWith(printed(failed), SECRET)).toEqual([]);
    },
    60_000,
  );
});

const linesWith = (output: string, secret: string): string[] =>
  output.split('\n').filter((line) => line.includes(secret));
