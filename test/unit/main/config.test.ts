import { describe, expect, it } from 'vitest';
import { parseConfig, parseMigration, parseVerification, type Role } from '../../../src/main/config.js';

const parse = (env: Record<string, string>, role: Role = 'all') => parseConfig(env, role, false);
const problemsOf = (env: Record<string, string>, role: Role = 'all'): string => {
  try {
    parse(env, role);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('nothing was refused');
};
const MYSQL = 'mysql://ax:ax@db:3306/ax';
const REDIS = 'redis://cache:6379';

describe('configuration', () => {
  it('runs embedded in ./ax-data on loopback when nothing is set', () => {
    const config = parse({});
    expect(config.backend).toEqual({ mode: 'embedded', dataDir: './ax-data' });
    expect(config.http).toEqual({ host: '127.0.0.1', port: 8080 });
    expect(config.adminToken).toBeNull();
  });

  it('runs as a cluster node when both URLs are set', () => {
    const config = parse({ AX_MYSQL_URL: MYSQL, AX_REDIS_URL: REDIS }, 'coordinator');
    expect(config.backend).toEqual({ mode: 'cluster', mysqlUrl: MYSQL, redisUrl: REDIS });
  });

  it('lets a worker do without MySQL', () => {
    expect(parse({ AX_REDIS_URL: REDIS }, 'worker').backend).toEqual({
      mode: 'cluster',
      mysqlUrl: null,
      redisUrl: REDIS,
    });
  });

  it.each([
    [{ AX_MYSQL_URL: MYSQL }, 'all', 'AX_REDIS_URL is not'],
    [{ AX_REDIS_URL: REDIS }, 'all', 'AX_MYSQL_URL is not'],
    [{ AX_REDIS_URL: REDIS }, 'coordinator', 'AX_MYSQL_URL is not'],
    [{ AX_MYSQL_URL: MYSQL }, 'worker', 'AX_REDIS_URL is not'],
    [{}, 'worker', '--role worker needs AX_REDIS_URL'],
    [{}, 'coordinator', '--role coordinator needs AX_REDIS_URL and AX_MYSQL_URL'],
  ] as const)('refuses %j for role %s', (env, role, text) => {
    expect(problemsOf(env, role)).toContain(text);
  });

  it('reports every problem at once', () => {
    const text = problemsOf({
      AX_HTTP_PORT: '99999',
      AX_TICK_MS: 'fast',
      AX_REDIS_URL: 'http://cache',
      AX_ADMIN_TOKEN: 'short',
      AX_POOLS: 'a,,b',
      AX_LOG_LEVEL: 'loud',
    });
    for (const name of [
      'AX_HTTP_PORT',
      'AX_TICK_MS',
      'AX_REDIS_URL',
      'AX_ADMIN_TOKEN',
      'AX_POOLS',
      'AX_LOG_LEVEL',
    ]) {
      expect(text).toContain(name);
    }
  });

  it('refuses an unknown AX_ name and says which was meant', () => {
    expect(problemsOf({ AX_HTTP_PROT: '80' })).toContain(
      'AX_HTTP_PROT: unknown variable, did you mean AX_HTTP_PORT?',
    );
    expect(problemsOf({ AX_SOMETHING_ELSE_ALTOGETHER: '1' })).toMatch(/unknown variable$/);
  });

  it('leaves the names of the test suite and of other programs alone', () => {
    expect(() => parse({ AX_TEST_REDIS_URL: 'x', PATH: '/bin', TICK_MS: 'x' })).not.toThrow();
  });

  it('knows as many brokers as there are variables for them, by the names that tasks use', () => {
    const [here, there] = ['amqp://ax:secret@mq:5672', 'amqps://mq.eu/orders'];
    const env = { AX_AMQP_URL: here, AX_AMQP_EU_WEST_URL: there, AX_AMQP_OLD_URL: '' };
    expect([...parse(env).brokers]).toEqual([
      ['default', here],
      ['eu_west', there],
    ]);
    expect([...parse({}).brokers]).toEqual([]);
  });

  it('refuses a broker without a usable URL, and a second default one, without repeating passwords', () => {
    const text = problemsOf({
      AX_AMQP_URL: 'http://ax:secret@mq',
      AX_AMQP_EU_URL: 'amqp:secret',
      AX_AMQP_DEFAULT_URL: 'amqp://ax:secret@mq',
      AX_AMQP_eu_URL: 'amqp://mq',
    });
    expect(text).toContain('AX_AMQP_URL: give a URL such as');
    expect(text).toContain('AX_AMQP_EU_URL: give a URL such as');
    expect(text).toContain('AX_AMQP_DEFAULT_URL: the broker "default" is that of AX_AMQP_URL');
    expect(text).toContain('AX_AMQP_eu_URL: unknown variable');
    expect(text).not.toContain('secret');
  });

  it('knows secrets by the names that tasks use', () => {
    const env = { AX_SECRET_ORDERS: 's3cret', AX_SECRET_A1_B: 'x=', AX_SECRET_OLD: '' };
    expect([...parse(env).secrets]).toEqual([
      ['ORDERS', 's3cret'],
      ['A1_B', 'x='],
    ]);
    expect(problemsOf({ AX_SECRET_orders: 's3cret' })).toMatch(/AX_SECRET_orders: unknown variable/);
    expect(problemsOf({ AX_SECRET_: 's3cret', AX_TICK_MS: 'x', AX_SECRET_ORDERS: 's3cret' })).not.toContain(
      's3cret',
    );
  });

  it('reads egress rules, and names each one that is none', () => {
    expect(
      parse({ AX_HTTP_ALLOW: ' *.example , 10.0.0.0/8,,fd00::/8', AX_HTTP_DENY: '10.1.2.3' }).egress,
    ).toEqual({
      allow: ['*.example', '10.0.0.0/8', 'fd00::/8'],
      deny: ['10.1.2.3'],
    });
    expect(parse({}).egress).toEqual({ allow: [], deny: [] });
    const text = problemsOf({ AX_HTTP_ALLOW: 'good,10.0.0.0/33', AX_HTTP_DENY: 'http://orders,300.1.1.1' });
    expect(text).toContain('AX_HTTP_ALLOW: "10.0.0.0/33"');
    expect(text).toContain('AX_HTTP_DENY: "http://orders"');
    expect(text).toContain('AX_HTTP_DENY: "300.1.1.1"');
    expect(text).not.toContain('"good"');
  });

  it.each([
    ['https://ax.example', 'https://ax.example'],
    ['http://AX.example:8080/', 'http://ax.example:8080'],
    ['https://example/ax//', 'https://example/ax'],
  ])('reads the public URL %s', (text, url) => {
    expect(parse({ AX_PUBLIC_URL: text }).publicUrl).toBe(url);
  });

  it.each([
    'ax.example',
    'ftp://ax.example',
    'https://ann:x@ax.example',
    'https://ax.example/?a',
    'https://ax.example/#a',
  ])('refuses the public URL %s', (text) => {
    expect(parse({}).publicUrl).toBeNull();
    expect(problemsOf({ AX_PUBLIC_URL: text })).toContain('AX_PUBLIC_URL: ');
  });

  it('takes an empty value as not set', () => {
    expect(parse({ AX_HTTP_PORT: '', AX_MYSQL_URL: '' }).http.port).toBe(8080);
  });

  it('never sleeps longer than a third of the lease', () => {
    expect(parse({ AX_LEASE_MS: '900' }).tickMs).toBe(300);
    expect(parse({}).tickMs).toBe(1000);
  });

  it('runs no shell tasks unless told to, and then keeps its own settings apart', () => {
    expect(parse({}).shell).toBeNull();
    expect(parse({ AX_SHELL_ENABLED: 'false', AX_SHELL_CWD: '/srv' }).shell).toBeNull();
    const env = { AX_SHELL_ENABLED: 'true', AX_KILL_GRACE_SEC: '9', AX_REDIS_URL: '', PATH: '/bin' };
    const environment = { PATH: '/bin' };
    expect(parse(env).shell).toEqual({ cwd: '/tmp', killGraceMs: 9000, engine: 'docker', environment });
    const wrong = { AX_SHELL_ENABLED: 'yes', AX_SHELL_CWD: 'srv', AX_CONTAINER_ENGINE: 'rkt' };
    for (const name of Object.keys(wrong)) expect(problemsOf(wrong)).toContain(name);
  });

  it('is not disturbed by what a command of a shell task is told', () => {
    expect(() =>
      parse({ AX_TASK_ID: 't', AX_EXECUTION_ID: 'e', AX_ATTEMPT: '1', AX_SCHEDULE_AT: '0' }),
    ).not.toThrow();
    expect(() => parse({ AX_PARAMS: 'null' })).not.toThrow();
  });

  it('migrates with the MySQL URL alone, and says so without it', () => {
    expect(parseMigration({ AX_MYSQL_URL: MYSQL })).toEqual({ mysqlUrl: MYSQL });
    expect(() => parseMigration({})).toThrow('AX_MYSQL_URL is not set');
  });

  it('verifies the database of a cluster, or else the data directory', () => {
    expect(parseVerification({ AX_MYSQL_URL: MYSQL, AX_REDIS_URL: REDIS })).toEqual({ mysqlUrl: MYSQL });
    expect(parseVerification({ AX_MYSQL_URL: MYSQL })).toEqual({ mysqlUrl: MYSQL });
    expect(parseVerification({ AX_DATA_DIR: '/data' })).toEqual({ dataDir: '/data' });
    expect(() => parseVerification({ AX_REDIS_URL: REDIS })).toThrow(
      'the history of a cluster is in its database',
    );
    expect(() => parseVerification({ AX_DATADIR: '/data' })).toThrow('did you mean AX_DATA_DIR');
  });
});
