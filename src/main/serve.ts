import { setTimeout as delay } from 'node:timers/promises';
import { createLogger } from '../adapters/telemetry/pino-logger.js';
import { type Config } from './config.js';
import { ExampleEndpoint } from './example-endpoint.js';
import { applyExamples } from './apply-examples.js';
import { Node } from './node.js';

/** Time to close everything after the drain; then the process ends all the same. */
const CLOSE_MS = 15_000;

/**
 * Runs one node until SIGTERM or SIGINT, then drains and ends the process: exit code 0 after a clean stop, 1 when closing took too long,
 * 130 at a second Ctrl-C.
 * @throws AxError `refused_start`, `unavailable` before anything runs.
 */
export async function serve(
  config: Config,
  options: { readonly version: string; readonly examples: string | null },
): Promise<void> {
  const logger = createLogger({
    level: config.log.level,
    isPretty: config.log.isPretty,
    node: config.nodeId,
  });
  const stopped = untilSignal();
  const node = await Node.open(config, options.version, logger);
  const endpoint = options.examples === null ? null : await ExampleEndpoint.start();
  try {
    if (node.useCases !== null && options.examples !== null && endpoint !== null) {
      await applyExamples(options.examples, endpoint.url, node.useCases);
    }
    await node.start();
    if (endpoint !== null) process.stdout.write(welcome(config, node));
    else if (node.newToken !== null)
      process.stdout.write(`admin token (shown once, keep it): ${node.newToken}\n`);
    const signal = await stopped;
    logger.info({ signal, drain_ms: config.drainMs }, 'stopping');
  } finally {
    const isClosed = await Promise.race([
      node.stop().then(() => true),
      delay(config.drainMs + (config.shell?.killGraceMs ?? 0) + CLOSE_MS, false, { ref: false }),
    ]);
    await endpoint?.close();
    if (!isClosed) {
      logger.error({}, 'closing took too long, what was not reported will be recovered');
      process.exit(1);
    }
  }
  logger.info({}, 'stopped');
}

/** Some parents pass a Ctrl-C on that the terminal has sent to their children already. */
const ECHO_MS = 1000;

/** The first signal stops gently; another one, later than an echo, ends the process at once. */
function untilSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let firstAt: number | null = null;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (firstAt !== null && performance.now() - firstAt > ECHO_MS) process.exit(130);
        firstAt ??= performance.now();
        resolve(signal);
      });
    }
  });
}

function welcome(config: Config, node: Node): string {
  const token = node.newToken ?? (config.adminToken === null ? '<token>' : '$AX_ADMIN_TOKEN');
  const told =
    node.newToken !== null
      ? `${node.newToken}  (shown once, keep it)`
      : config.adminToken === null
        ? 'was shown at the first start; AX_ADMIN_TOKEN=… sets another'
        : 'as AX_ADMIN_TOKEN says';
  return [
    '',
    `  ax runs (${node.description}); the example tasks fire every few seconds.`,
    `  address  ${node.address}`,
    `  token    ${told}`,
    `  look     curl -H "Authorization: Bearer ${token}" "${node.address}/api/executions?page_size=5"`,
    '  stop     Ctrl-C',
    '',
    '',
  ].join('\n');
}
