import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { createLogger } from '../../../../src/adapters/telemetry/pino-logger.js';
import { AxError } from '../../../../src/domain/errors.js';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
/** The second one needs the first. */
const MODULES = ['without-secrets', 'pino-logger'].map((name) => `${ROOT}src/adapters/telemetry/${name}.ts`);
const OPTIONS: ts.CompilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 };

function capture(level = 'info', isPretty = false) {
  const chunks: string[] = [];
  const destination = { write: (text: string) => void chunks.push(text) };
  const logger = createLogger({ level, isPretty, node: 'node-1', destination });
  const text = () => chunks.join('');
  const lines = () =>
    text()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { logger, text, lines };
}

describe('PinoLogger', () => {
  it('writes one JSON object a line, with the facts, the node and the time', () => {
    const { logger, lines } = capture();
    logger.info({ task_id: 'task-1', execution_id: 'e-1', trace_id: 't-1' }, 'run finished');
    logger.warn({}, 'two\nlines');
    const [first, second] = lines();
    expect(first).toMatchObject({
      level: 'info',
      node: 'node-1',
      task_id: 'task-1',
      execution_id: 'e-1',
      trace_id: 't-1',
      msg: 'run finished',
    });
    expect(first?.['time']).toMatch(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/);
    expect(second).toMatchObject({ level: 'warn', msg: 'two\nlines' });
    expect(first).not.toHaveProperty('pid');
  });

  it('leaves out what is below its level', () => {
    const { logger, lines } = capture('warn');
    logger.debug({}, 'a');
    logger.info({}, 'b');
    logger.warn({}, 'c');
    logger.error({}, 'd');
    expect(lines().map(({ msg }) => msg)).toEqual(['c', 'd']);
    const all = capture('debug');
    all.logger.debug({}, 'a');
    expect(all.lines()).toHaveLength(1);
  });

  it('shows errors with code, stack and cause', () => {
    const { logger, lines } = capture();
    const cause = new Error('connect ECONNREFUSED');
    logger.error({ err: new AxError('unavailable', 'MySQL is away', { cause }) }, 'tick failed');
    const [line] = lines();
    expect(line?.['err']).toMatchObject({ type: 'AxError', code: 'unavailable', retryable: true });
    expect(JSON.stringify(line?.['err'])).toContain('ECONNREFUSED');
    expect(JSON.stringify(line?.['err'])).toContain('pino-logger.test');
  });

  it('hides users, passwords and queries of addresses, and what drivers add to their errors', () => {
    const { logger, text, lines } = capture();
    const url = 'amqp://me:hush@broker/x?key=hush';
    const err = Object.assign(new Error(`no answer from ${url}`, { cause: new Error(url) }), { sql: 'hush' });
    logger.error({ err, error: `answered 302 to ${url}` }, 'failed');
    expect(text()).not.toContain('hush');
    expect(lines()[0]?.['error']).toBe('answered 302 to amqp://REDACTED:REDACTED@broker/x?REDACTED');
  });

  it('survives facts that JSON cannot say', () => {
    const { logger, lines } = capture();
    const circular: Record<string, unknown> = { big: 10n };
    circular['self'] = circular;
    logger.info(circular, 'odd');
    expect(lines()[0]).toMatchObject({ msg: 'odd' });
  });

  it('writes plain text for people when asked to', () => {
    const { logger, text } = capture('info', true);
    logger.info({ task_id: 'task-1' }, 'run finished');
    expect(text()).toMatch(/INFO.*run finished/);
    expect(text()).toContain('task-1');
    expect(() => JSON.parse(text()) as unknown).toThrow();
  });

  it.each([false, true])('loses no line when the process exits at once (pretty: %s)', (isPretty) => {
    const sources = MODULES.map((file) => ts.transpile(readFileSync(file, 'utf8'), OPTIONS));
    const script = `${sources.join('\n').replaceAll(/^import .* from '\.\/.*$/gm, '')}
      const logger = createLogger({ level: 'info', isPretty: ${isPretty}, node: 'n' });
      for (let n = 0; n < 5000; n += 1) logger.info({ n }, 'line of a process about to exit');
      process.exit(3);`;
    const run = spawnSync(process.execPath, ['--input-type=module', '-e', script], { cwd: ROOT });
    expect(run.stderr.toString()).toBe('');
    expect(run.status).toBe(3);
    expect(run.stdout.toString().match(/about to exit/g)).toHaveLength(5000);
  });
});
