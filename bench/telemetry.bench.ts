import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, it } from 'vitest';
import { type FullRunOptions, type FullRunResult } from './full-run-process.js';
import { compare } from './measure.js';
import { servers } from './servers.js';

const BATCHES = 5;
const ROUNDS = 16;
const ROUNDS_OF_PROCESS = 3;
const PROCESS = fileURLToPath(new URL('../dist/bench/bench/full-run-process.js', import.meta.url));
/** Takes everything and looks at nothing: a collector, and a target. */
const SINK = `require('node:http')
  .createServer((request, response) => request.resume().on('end', () => response.end()))
  .listen(0, '127.0.0.1', function () { console.log(this.address().port); });`;

const KINDS: Readonly<Record<string, Pick<FullRunOptions, 'hasMetrics' | 'scrapeMs' | 'ratio'>>> = {
  'no telemetry': { hasMetrics: false, scrapeMs: 0, ratio: null },
  metrics: { hasMetrics: true, scrapeMs: 0, ratio: null },
  // More often than anybody scrapes in earnest.
  'metrics, scraped every five seconds': { hasMetrics: true, scrapeMs: 5000, ratio: null },
  'metrics, every run traced': { hasMetrics: true, scrapeMs: 0, ratio: 1 },
  'metrics, 1 % of runs traced, and failures': { hasMetrics: true, scrapeMs: 0, ratio: 0.01 },
};

const sinks = [openSink(), openSink()] as const;
const urls = Promise.all(
  sinks.map(async ({ stdout }) => {
    const [port] = (await once(stdout, 'data')) as [Buffer];
    return `http://127.0.0.1:${port.toString().trim()}`;
  }),
);

afterAll(() => sinks.forEach((sink) => sink.kill()));

it.each([
  { what: 'each task calls an HTTP target in another process', hasTarget: true },
  { what: 'each task calls an executor that does nothing', hasTarget: false },
])('full runs: $what', async ({ what, hasTarget }) => {
  const [collector = '', target = ''] = await urls;
  const env = { ...process.env, OTEL_EXPORTER_OTLP_ENDPOINT: collector };
  const contenders = Object.entries(KINDS).map(([name, kind]) => {
    const options = { ...servers(), ...kind, targetUrl: hasTarget ? target : null };
    return new FullRunContender(name, options, env);
  });
  await compare(
    `runs/s from trigger to stored result, coordinator and worker in one process, MySQL and Redis beside it; ${what}`,
    'runs/s',
    ROUNDS,
    contenders,
  );
  for (const contender of contenders) await contender.close();
});

/** Works in a process of its own, and in another one after a few rounds: two processes alike differ by more than what is measured. */
class FullRunContender {
  private child: ChildProcess | undefined;
  private rounds = 0;

  constructor(
    readonly name: string,
    private readonly options: FullRunOptions,
    private readonly env: NodeJS.ProcessEnv,
  ) {}

  readonly prepare = async (): Promise<void> => {
    if (this.rounds++ % ROUNDS_OF_PROCESS > 0) return;
    await this.close();
    this.child = fork(PROCESS, [JSON.stringify(this.options)], { env: this.env });
    await once(this.child, 'message');
    await this.work();
  };

  readonly work = async () => {
    this.child?.send(BATCHES);
    const [{ runs, cpuUs }] = (await once(this.child as ChildProcess, 'message')) as [FullRunResult];
    return { units: runs, cpuUs };
  };

  async close(): Promise<void> {
    if (this.child === undefined) return;
    this.child.disconnect();
    await once(this.child, 'exit');
  }
}

function openSink() {
  return spawn(process.execPath, ['-e', SINK], { stdio: ['ignore', 'pipe', 'inherit'] });
}
