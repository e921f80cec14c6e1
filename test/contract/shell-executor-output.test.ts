import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ShellExecutor } from '../../src/adapters/executors/shell/shell-executor.js';
import { SystemClock } from '../../src/adapters/system/system-clock.js';
import { type Outcome } from '../../src/domain/execution.js';
import { ShellPeer } from '../support/shell-peer.js';
import { buildRequest, outcomeOf } from './executor.suite.js';

describe('ShellExecutor reads', () => {
  const executor = new ShellExecutor({
    clock: new SystemClock(),
    killGraceMs: 5000,
    cwd: '/',
    engine: 'docker',
    environment: { PATH: process.env['PATH'] ?? '' },
  });
  let peer: ShellPeer;

  beforeEach(async () => {
    peer = await ShellPeer.open();
  });

  afterEach(async () => {
    expect(peer.atWork()).toBe(0);
    await peer.close();
  });

  const run = (script: string, timeoutMs = 20_000): Promise<Outcome> =>
    outcomeOf(executor, buildRequest(peer.command(script), { timeoutMs }), new AbortController().signal);

  const heldMiB = () => (process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed) / (1 << 20);

  it('1 GB to its end without keeping it', async () => {
    const before = heldMiB();
    let peak = before;
    const sampling = setInterval(() => (peak = Math.max(peak, heldMiB())), 5);
    const outcome = await run('head -c 1G /dev/zero', 120_000);
    clearInterval(sampling);
    expect(outcome).toMatchObject({ status: 'success', evidence: { stdout_bytes: 1 << 30 } });
    expect(outcome.evidence['stdout_tail']).toBe('?'.repeat(65_536));
    expect(peak - before).toBeLessThan(128);
  }, 120_000);

  it('both streams, and the last 64 KiB of each, cut between two characters', async () => {
    // 30000 times 3 bytes: the cut falls into a character.
    const outcome = await run('yes 名 | tr -d "\\n" | head -c 90000; yes e | head -c 70000 >&2');
    expect(outcome.evidence).toMatchObject({ stdout_bytes: 90_000, stderr_bytes: 70_000 });
    expect(outcome.evidence['stdout_tail']).toBe('名'.repeat(21_845));
    expect(outcome.evidence['stderr_tail']).toBe('e\n'.repeat(32_768));
  });

  it('a line without an end, and nothing', async () => {
    expect((await run('printf "no newline"')).evidence['stdout_tail']).toBe('no newline');
    const { evidence } = await run('true');
    expect(evidence).toMatchObject({ stdout_bytes: 0, stderr_bytes: 0 });
    expect(evidence).not.toHaveProperty('stdout_tail');
  });

  it('binary output and terminal sequences without passing them on', async () => {
    const { evidence } = await run('head -c 5000 /dev/urandom; printf "\\033[2Jred\\0" >&2');
    expect(evidence).toMatchObject({ stdout_tail: '<binary, 5000 bytes>', stderr_tail: '?[2Jred?' });
  });

  it('text of another encoding as far as it is text', async () => {
    expect((await run('printf "K\\344se und Br\\366tchen"')).evidence['stdout_tail']).toBe(
      'K?se und Br?tchen',
    );
  });

  it('what a command wrote right before its end', async () => {
    for (let n = 0; n < 5; n += 1) {
      const { evidence } = await run('head -c 200000 /dev/zero | tr "\\0" x; printf last');
      expect(evidence['stdout_bytes']).toBe(200_004);
      expect(String(evidence['stdout_tail']).endsWith('xlast')).toBe(true);
    }
  });

  it('nothing more from a command that closes its output and goes on, and waits for it', async () => {
    const outcome = await run('echo before; exec >&- 2>&- <&-; sleep 0.4; exit 7');
    expect(outcome).toMatchObject({
      reason: 'exit_code',
      evidence: { exit_code: 7, stdout_tail: 'before\n' },
    });
    expect(outcome.evidence['duration_ms']).toBeGreaterThanOrEqual(390);
  });
});
