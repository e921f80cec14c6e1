import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { prometheusProgram } from './promtool.js';
import { placeIn, unprivileged } from './servers/from-programs.js';
import { startGuard, type Guard } from './servers/guard.js';
import { untilReady } from './servers/until-ready.js';

export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: number;
}

interface Answer {
  readonly status: string;
  readonly error?: string;
  readonly warnings?: readonly string[];
  readonly data: { readonly result: readonly { metric: Record<string, string>; value: [number, string] }[] };
}

/** A real Prometheus with data of its own, that scrapes every second and evaluates the rules of `rules`, as a non-root user. */
export class Prometheus {
  private constructor(
    private readonly guard: Guard,
    private readonly origin: string,
  ) {}

  static async start(targets: readonly string[], rules: string): Promise<Prometheus> {
    const program = await prometheusProgram('prometheus');
    const directory = path.join(tmpdir(), `ax-test-prometheus-${randomBytes(6).toString('hex')}`);
    const { port } = await placeIn(directory);
    const account = process.getuid?.() === 0 ? unprivileged(['prometheus', 'nobody']) : undefined;
    const config = {
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: ['rules.yml'],
      scrape_configs: [{ job_name: 'ax', static_configs: [{ targets }] }],
    };
    const guard = startGuard('./program-guard.mjs', {
      directory,
      log: path.join(directory, 'log'),
      // JSON is YAML.
      files: { 'prometheus.yml': JSON.stringify(config), 'rules.yml': rules },
      commands: [
        [
          program,
          `--config.file=${directory}/prometheus.yml`,
          `--storage.tsdb.path=${directory}/data`,
          `--web.listen-address=127.0.0.1:${port}`,
          '--enable-feature=exemplar-storage',
        ],
      ],
      uid: account?.uid,
      gid: account?.gid,
    });
    const prometheus = new Prometheus(guard, `http://127.0.0.1:${port}`);
    try {
      await untilReady(() => prometheus.query('vector(1)'), {
        deadlineMs: 30_000,
        gaveUp: () => guard.said(),
      });
    } catch (error) {
      await guard.end();
      throw error;
    }
    return prometheus;
  }

  /** Trace ids of runs that Prometheus keeps as examples of the values of a query. */
  async exemplars(query: string): Promise<readonly string[]> {
    const body = new URLSearchParams({
      query,
      start: String(Date.now() / 1000 - 600),
      end: String(Date.now() / 1000),
    });
    const response = await fetch(`${this.origin}/api/v1/query_exemplars`, { method: 'POST', body });
    const { data } = (await response.json()) as {
      data: { exemplars: { labels: Record<string, string> }[] }[];
    };
    return data.flatMap(({ exemplars }) => exemplars.map(({ labels }) => labels['trace_id'] ?? ''));
  }

  /** An instant query of now. @throws Error on an error or a warning of Prometheus. */
  async query(expr: string): Promise<readonly Sample[]> {
    const body = new URLSearchParams({ query: expr });
    const response = await fetch(`${this.origin}/api/v1/query`, { method: 'POST', body });
    const { status, error, warnings = [], data } = (await response.json()) as Answer;
    if (status !== 'success' || warnings.length > 0)
      throw new Error(`${expr}: ${error ?? warnings.join('; ')}`);
    return data.result.map(({ metric, value: [, value] }) => ({ metric, value: Number(value) }));
  }

  async close(): Promise<void> {
    await this.guard.end();
  }
}
