import { execFileSync } from 'node:child_process';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ShellExecutor } from '../../src/adapters/executors/shell/shell-executor.js';
import { SystemClock } from '../../src/adapters/system/system-clock.js';
import { type ContainerSpec, type ShellExecutorSpec } from '../../src/domain/executors/shell-spec.js';
import { nextUuid } from '../support/builders.js';
import { commandOf } from '../support/shell-peer.js';
import { until } from '../support/until.js';
import { buildRequest, outcomeOf } from './executor.suite.js';

/** With `sh` and `grep`; the first that is there already. */
const IMAGES = [process.env['AX_TEST_CONTAINER_IMAGE'], 'alpine', 'busybox', 'debian', 'redis:7-alpine'];

const docker = (...words: string[]): string =>
  execFileSync('docker', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: 60_000 });

function works(...words: string[]): boolean {
  try {
    docker(...words);
    return true;
  } catch {
    return false;
  }
}

const image = IMAGES.find((name) => name !== undefined && works('image', 'inspect', name));
const TITLE =
  'ShellExecutor in containers (needs a Docker engine with AX_TEST_CONTAINER_IMAGE, alpine, busybox, debian or redis:7-alpine)';

describe.skipIf(image === undefined)(TITLE, () => {
  const host = `ax-test-${nextUuid()}`;
  const fresh: ContainerSpec = { image: image ?? '' };
  const named: ContainerSpec = { name: host };
  const executor = new ShellExecutor({
    clock: new SystemClock(),
    killGraceMs: 1000,
    cwd: '/',
    engine: 'docker',
    environment: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '/' },
  });

  beforeAll(() => {
    docker('run', '--detach', '--rm', '--init', '--name', host, image ?? '', 'sleep', '3600');
  });

  afterAll(() => {
    docker('rm', '--force', host);
  });

  /** Command lines of what runs in the container that lives on. */
  const inside = (): string[] =>
    docker(
      'exec',
      host,
      'sh',
      '-c',
      "for f in /proc/[0-9]*/cmdline; do tr '\\0' ' ' <$f; echo; done 2>/dev/null",
    )
      .split('\n')
      .filter((line) => /sleep (?!3600)\d/.test(line));

  const freshIds = (): string => docker('ps', '--all', '--quiet', '--filter', 'name=^ax-[0-9a-f]{8}-').trim();
  const inFresh = (): string =>
    freshIds() !== '' && works('top', freshIds()) ? docker('top', freshIds()) : '';

  afterEach(() => {
    expect(inside()).toEqual([]);
    expect(freshIds()).toBe('');
  });

  const execute = (
    container: ContainerSpec,
    command: string,
    { timeoutMs = 60_000, signal = new AbortController().signal, ...spec }: Overrides = {},
  ) => outcomeOf(executor, buildRequest(commandOf(command, { container, ...spec }), { timeoutMs }), signal);
  type Overrides = Partial<ShellExecutorSpec> & {
    readonly timeoutMs?: number;
    readonly signal?: AbortSignal;
  };

  describe.each([
    ['a fresh one', fresh],
    ['one that runs already', named],
  ])('%s', (_what, container) => {
    it('runs the command with its variables, folder and user', async () => {
      const command = 'echo "$AX_ATTEMPT $AX_PARAMS $COLOR $(pwd) $(id -u) $PATH"; echo err >&2';
      const outcome = await execute(container, command, {
        env: { COLOR: 'two\nlines' },
        cwd: '/etc',
        user: '1',
      });
      expect(outcome).toMatchObject({ status: 'success', evidence: { exit_code: 0, stderr_tail: 'err\n' } });
      expect(outcome.evidence['stdout_tail']).toMatch(/^1 {"size":1} two\nlines \/etc 1 \/.*bin\n$/);
    }, 90_000);

    it('judges by the exit code', async () => {
      expect(await execute(container, 'exit 3')).toMatchObject({
        reason: 'exit_code',
        evidence: { exit_code: 3 },
      });
    }, 90_000);

    it('says why it did not start', async () => {
      const outcome = await execute(container, '', { run: { argv: ['no-such-program'] } });
      expect(outcome).toMatchObject({ status: 'fail', reason: 'spawn' });
      expect(outcome.message).toContain('no-such-program');
    }, 90_000);

    it('ends all that runs inside at the deadline', async () => {
      const outcome = await execute(container, 'setsid sleep 1001 & sleep 1002 & sleep 1003', {
        timeoutMs: 5000,
      });
      expect(outcome).toMatchObject({ status: 'timeout', reason: 'deadline' });
      // Found inside, not only among the processes of this machine.
      const { processes_ended: ended } = outcome.evidence;
      expect(ended).toMatch('name' in container ? new RegExp(`(${host}/\\d+, ){3}`) : /^ax-/);
      expect(outcome.evidence).not.toHaveProperty('processes_left');
    }, 90_000);

    it('ends also what ignores TERM, when stopped', async () => {
      const controller = new AbortController();
      const command = "trap '' TERM; setsid sleep 1001 & sleep 1002 & while true; do sleep 1003; done";
      const outcome = execute(container, command, { signal: controller.signal });
      const seen = () => ('name' in container ? inside().length >= 3 : inFresh().includes('sleep 1003'));
      await until('it runs', seen, 60_000);
      controller.abort('cancelled');
      expect(await outcome).toMatchObject({ status: 'fail', reason: 'cancelled' });
      expect((await outcome).evidence).toHaveProperty('processes_killed');
      expect((await outcome).evidence).not.toHaveProperty('processes_left');
    }, 90_000);

    it('ends what the command leaves behind', async () => {
      expect(await execute(container, 'sleep 1001 & setsid sleep 1002 & exit 0')).toMatchObject({
        status: 'success',
      });
    }, 90_000);
  });

  it.each([
    ['container', { name: 'ax-test-no-such' }, 'No such container'],
    ['image', { image: 'ax-test/no-such:1' }, 'ax-test/no-such'],
  ])(
    'does not start without the %s',
    async (_what, container, message) => {
      const outcome = await execute(container, 'true');
      expect(outcome).toMatchObject({ status: 'fail', reason: 'spawn' });
      expect(`${outcome.message}${outcome.evidence['stderr_tail']}`).toContain(message);
    },
    90_000,
  );
});
