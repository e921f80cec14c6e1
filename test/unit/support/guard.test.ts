import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { startGuard } from '../../support/servers/guard.js';

const node = process.execPath;
const forever = 'setInterval(() => undefined, 1000)';

/** A guard over these Node programs; the last one stands for the server. */
function guardOver(...scripts: string[]) {
  const directory = path.join(tmpdir(), `ax-test-guard-${randomBytes(6).toString('hex')}`);
  const log = path.join(directory, 'log');
  const guard = startGuard('./program-guard.mjs', {
    directory,
    log,
    files: { greeting: 'hello' },
    commands: scripts.map((script) => [node, '-e', script]),
  });
  const logged = () => (existsSync(log) ? readFileSync(log, 'utf8') : '');
  return { guard, directory, logged };
}

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('the guard of a server program', () => {
  it('runs the commands in their order in a directory with the files, and on end leaves neither process nor file', async () => {
    const first = `require('fs').writeFileSync('first', require('fs').readFileSync('greeting'))`;
    const second = `console.log(require('fs').readFileSync('first', 'utf8') + ' ' + process.pid); ${forever}`;
    const { guard, directory, logged } = guardOver(first, second);
    await vi.waitUntil(() => /hello \d+/.test(logged()), { timeout: 20_000 });
    const pid = Number(/hello (\d+)/.exec(logged())?.[1]);
    expect(isAlive(pid)).toBe(true);
    await guard.end();
    expect(isAlive(pid)).toBe(false);
    expect(existsSync(directory)).toBe(false);
  });

  it('also ends the children of the server', async () => {
    const child = `require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(forever)}])`;
    const { guard, logged } = guardOver(`console.log('child ' + ${child}.pid); ${forever}`);
    await vi.waitUntil(() => /child \d+/.test(logged()), { timeout: 20_000 });
    const pid = Number(/child (\d+)/.exec(logged())?.[1]);
    await guard.end();
    await vi.waitUntil(() => !isAlive(pid), { timeout: 20_000 });
  });

  it.each([
    ['a preparation that fails', ['process.exit(3)', forever], /ended with exit code 3$/],
    ['a server that ends by itself', ['process.exit(0)', 'process.exit(0)'], /ended with exit code 0$/],
  ])('reports %s', async (_, scripts, report) => {
    const { guard, directory } = guardOver(...scripts);
    await vi.waitUntil(() => guard.said() !== undefined, { timeout: 20_000 });
    expect(guard.said()).toMatch(report);
    await guard.end();
    expect(existsSync(directory)).toBe(false);
  });
});
