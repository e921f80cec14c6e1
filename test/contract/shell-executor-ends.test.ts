import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ShellExecutor } from '../../src/adapters/executors/shell/shell-executor.js';
import { SystemClock } from '../../src/adapters/system/system-clock.js';
import { type Outcome } from '../../src/domain/execution.js';
import { type ShellExecutorSpec } from '../../src/domain/executors/shell-spec.js';
import { type ExecutorRequest, type StopReason } from '../../src/ports/executor.js';
import { ShellPeer } from '../support/shell-peer.js';
import { until } from '../support/until.js';
import { buildRequest } from './executor.suite.js';

const GRACE_MS = 400;
/** Ignores TERM, and so do its children. */
const DEAF = "trap '' TERM; ";

describe('ShellExecutor ends', () => {
  const executor = new ShellExecutor({
    clock: new SystemClock(),
    killGraceMs: GRACE_MS,
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

  const request = (script: string, timeoutMs: number): ExecutorRequest<ShellExecutorSpec> =>
    buildRequest(peer.command(script), { timeoutMs });

  const run = async (script: string, timeoutMs = 20_000): Promise<Outcome> => {
    const outcome = await executor.execute(request(script, timeoutMs), new AbortController().signal);
    // Nothing of the attempt runs when the outcome is there, not even a moment later.
    expect(peer.atWork()).toBe(0);
    return outcome;
  };

  const count = (names: unknown): number => String(names).split(', ').length;

  it('a command and its background job at the deadline, by TERM, long before the grace is over', async () => {
    const outcome = await run('sleep 1000 & sleep 1000', 2000);
    expect(outcome).toMatchObject({
      status: 'timeout',
      reason: 'deadline',
      message: 'not ended within 2000 ms',
    });
    expect(outcome.evidence).toMatchObject({ signal: 'SIGTERM' });
    expect(outcome.evidence).not.toHaveProperty('processes_killed');
    expect(count(outcome.evidence['processes_ended'])).toBe(3);
  });

  it('a whole tree that ignores TERM, by KILL after the grace', async () => {
    const tree = `${DEAF} (sh -c 'sleep 1000 & sleep 1000' & sleep 1000) & sleep 1000`;
    const { status, evidence } = await run(tree, 1500);
    expect(status).toBe('timeout');
    expect(evidence['signal']).toBe('SIGKILL');
    expect(count(evidence['processes_killed'])).toBeGreaterThanOrEqual(5);
    expect(evidence['duration_ms']).toBeGreaterThanOrEqual(1500 + GRACE_MS - 5);
    expect(evidence).not.toHaveProperty('processes_left');
  });

  it('a command that stops itself: TERM alone would not reach it', async () => {
    const { evidence } = await run('kill -STOP $$', 300);
    expect(evidence['signal']).toBe('SIGTERM');
  });

  it('what one that starts others faster than they can be counted has started', async () => {
    const outcome = await run(`${DEAF} while true; do sleep 5 & sleep 0.01; done`, 300);
    expect(outcome.status).toBe('timeout');
    expect(outcome.evidence).not.toHaveProperty('processes_left');
  });

  describe('what a command left behind when it had ended well', () => {
    /** Begins `daemon` and ends well when that says that it has begun. */
    const leaveBehind = (daemon: string) => `${daemon} while ! [ -e ready ]; do sleep 0.02; done`;
    const DAEMON = "sh -c 'echo >ready; exec sleep 1000'";

    it.each([
      ['a background job', `${DAEMON} &`, 1],
      ['a background job that ignores TERM', `${DEAF} ${DAEMON} &`, 1],
      ['a double fork', `(sleep 1000 & ${DAEMON} &) &`, 2],
      ['a daemon in a session of its own', `setsid ${DAEMON} &`, 1],
      ['a daemon whose parents are gone', `(setsid sh -c "sleep 1000 & ${DAEMON} &" &) &`, 2],
      ['a daemon that ignores TERM', `${DEAF} setsid ${DAEMON} &`, 1],
      [
        'the child of a daemon that has another environment and session',
        `setsid sh -c "env -i PATH=$PATH setsid ${DAEMON}; :" &`,
        2,
      ],
    ])('%s', async (_what, daemon, processes) => {
      const outcome = await run(leaveBehind(daemon));
      expect(outcome).toMatchObject({ status: 'success', message: null, evidence: { exit_code: 0 } });
      expect(count(outcome.evidence['processes_ended'])).toBe(processes);
      expect('processes_killed' in outcome.evidence).toBe(daemon.includes(DEAF));
    });
  });

  it('a daemon also at the deadline', async () => {
    const outcome = await run('setsid sleep 1000 & sleep 1000', 1500);
    expect(count(outcome.evidence['processes_ended'])).toBe(3);
  });

  it('nothing, and says nothing of it, when all have ended by themselves', async () => {
    const outcome = await run('sleep 0.1 & wait');
    expect(Object.keys(outcome.evidence).filter((key) => key.startsWith('processes'))).toEqual([]);
  });

  it('a tree at each way of being stopped', async () => {
    for (const reason of ['cancelled', 'replaced', 'drained', 'claim_lost'] satisfies StopReason[]) {
      const controller = new AbortController();
      const lasting = request('sleep 1000 & sleep 1000', 60_000);
      const outcome = executor.execute(lasting, controller.signal);
      await until('it has begun', () => peer.begun(lasting.executionId) === 1);
      controller.abort(reason);
      expect(await outcome).toMatchObject({ status: 'fail', reason });
      expect(peer.atWork()).toBe(0);
    }
  });

  it('only what belongs to the attempt', async () => {
    const other = request('sleep 3', 60_000);
    const unhurt = executor.execute(other, new AbortController().signal);
    await until('it has begun', () => peer.begun(other.executionId) === 1);
    const outcome = await executor.execute(
      request('setsid sleep 1000 & sleep 1000', 1000),
      new AbortController().signal,
    );
    expect(outcome.status).toBe('timeout');
    expect(await unhurt).toMatchObject({ status: 'success' });
  });

  it('what an earlier attempt has running whose worker is gone, before the next one begins', async () => {
    const earlier = request('setsid sleep 1000 & sleep 1000', 60_000);
    const orphaned = executor.execute(earlier, new AbortController().signal);
    await until('it has begun', () => peer.atWork() === 3);
    const next = { ...request('true', 60_000), executionId: earlier.executionId, attempt: 2 };
    const outcome = await executor.execute(next, new AbortController().signal);
    expect(outcome).toMatchObject({ status: 'success' });
    expect(count(outcome.evidence['orphans_ended'])).toBe(3);
    expect(await orphaned).toMatchObject({ reason: 'signal' });
  });

  it('does not wait for who has got away with the output: a process of another environment, session and parent', async () => {
    const escape =
      "(env -i /usr/bin/setsid /bin/sh -c 'echo $$ >pid; exec sleep 1000' &) & while ! [ -s pid ]; do sleep 0.02; done; sleep 0.1; echo done";
    const outcome = await run(escape);
    expect(outcome).toMatchObject({
      status: 'success',
      evidence: { is_output_cut: true, stdout_tail: 'done\n' },
    });
    const [pid = ''] = (await peer.text('pid')).split('\n');
    // Documented: nothing on this system tells whose it is.
    expect(process.kill(Number(pid), 'SIGKILL')).toBe(true);
  });
});
