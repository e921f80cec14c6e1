import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ShellExecutor } from '../../src/adapters/executors/shell/shell-executor.js';
import { SystemClock } from '../../src/adapters/system/system-clock.js';
import { type ShellExecutorSpec } from '../../src/domain/executors/shell-spec.js';
import { BASE } from '../support/builders.js';
import { FakeEngine } from '../support/fake-engine.js';
import { commandOf } from '../support/shell-peer.js';
import { until } from '../support/until.js';
import { buildRequest, outcomeOf } from './executor.suite.js';

const IMAGE = { image: 'registry:5000/jobs/sync@sha256:0' };
const NAMED = { name: 'jobs_1' };
const RUN_NAMES = ['AX_TASK_ID', 'AX_EXECUTION_ID', 'AX_ATTEMPT', 'AX_SCHEDULE_AT', 'AX_PARAMS'];
const named = (names: readonly string[]) => names.flatMap((name) => ['--env', name]);

/** No engine is needed: a program on PATH stands for its client. */
describe('ShellExecutor calls a container engine', () => {
  let engine: FakeEngine;

  beforeEach(async () => {
    engine = await FakeEngine.open('docker');
  });

  afterEach(async () => {
    await engine.close();
  });

  const executorWith = (program: 'docker' | 'podman' = 'docker') =>
    new ShellExecutor({
      clock: new SystemClock(),
      killGraceMs: 300,
      cwd: '/',
      engine: program,
      environment: { PATH: engine.path, HOME: '/root', DOCKER_HOST: 'unix:///engine' },
    });

  const execute = (
    spec: Partial<ShellExecutorSpec>,
    timeoutMs = 20_000,
    signal = new AbortController().signal,
    executor = executorWith(),
  ) => {
    const request = buildRequest(commandOf('work --now', spec), {
      executionId: 'e-1',
      attempt: 2,
      timeoutMs,
    });
    return outcomeOf(executor, request, signal);
  };
  const verbs = async () => (await engine.calls()).map(({ argv }) => argv.slice(0, 2).join(' '));

  it('to run a fresh container, with the variables by their names', async () => {
    await engine.on('run', 'echo out; echo err >&2');
    const outcome = await execute({
      container: IMAGE,
      cwd: '/srv',
      user: 'batch',
      env: { TOKEN: 'secret', COLOR: 'blue' },
    });
    expect(outcome).toMatchObject({
      status: 'success',
      evidence: { exit_code: 0, stdout_tail: 'out\n', stderr_tail: 'err\n' },
    });
    const [call, ...others] = await engine.calls();
    expect(others).toEqual([]);
    expect(call?.argv).toEqual([
      ...['run', '--rm', '--init', '--log-driver', 'none', '--name', 'ax-e-1-2'],
      ...['--workdir', '/srv', '--user', 'batch'],
      ...named(['TOKEN', 'COLOR', ...RUN_NAMES]),
      ...['--entrypoint', '/bin/sh', IMAGE.image, '-c', 'work --now'],
    ]);
    expect(call?.argv.join(' ')).not.toContain('secret');
    expect(call?.env).toMatchObject({
      ...{ TOKEN: 'secret', COLOR: 'blue', DOCKER_HOST: 'unix:///engine', HOME: '/root' },
      ...{ AX_TASK_ID: 'task-1', AX_EXECUTION_ID: 'e-1', AX_ATTEMPT: '2' },
      ...{ AX_SCHEDULE_AT: String(BASE), AX_PARAMS: '{"size":1}' },
    });
  });

  it('to run in a container that runs, and to look there for what is left', async () => {
    await engine.on('exec', '');
    const outcome = await execute({ container: NAMED, run: { argv: ['work', '--now', '-x y'] } });
    expect(outcome.status).toBe('success');
    const [call, search, ...others] = await engine.calls();
    expect(others).toEqual([]);
    expect(call?.argv).toEqual(['exec', ...named(RUN_NAMES), 'jobs_1', 'work', '--now', '-x y']);
    expect(search?.argv.slice(0, 6)).toEqual(['exec', '--user', '0', 'jobs_1', 'sh', '-c']);
    expect(search?.argv.slice(7)).toEqual(['ax', 'TERM', 'AX_EXECUTION_ID=e-1', 'AX_ATTEMPT=2']);
    expect(search?.env).not.toHaveProperty('AX_EXECUTION_ID');
  });

  it('without letting the task give the client orders', async () => {
    await engine.on('run', '');
    const env = {
      PATH: '/evil',
      LD_PRELOAD: '/evil.so',
      DOCKER_HOST: 'tcp://evil',
      HOME: '/evil',
      https_proxy: 'evil',
    };
    expect((await execute({ container: IMAGE, env })).status).toBe('success');
    const [call] = await engine.calls();
    for (const [name, value] of Object.entries(env)) expect(call?.argv).toContain(`${name}=${value}`);
    expect(call?.env).toMatchObject({ PATH: engine.path, HOME: '/root', DOCKER_HOST: 'unix:///engine' });
    expect(call?.env).not.toHaveProperty('LD_PRELOAD');
  });

  it('by the name that is configured', async () => {
    await engine.close();
    engine = await FakeEngine.open('podman');
    await execute({ container: IMAGE }, 20_000, new AbortController().signal, executorWith('podman'));
    expect(await verbs()).toEqual(['run --rm']);
  });

  it('and says so when there is none', async () => {
    const executor = executorWith('podman');
    const outcome = await execute({ container: IMAGE }, 20_000, new AbortController().signal, executor);
    expect(outcome).toMatchObject({ reason: 'spawn', message: 'this worker has no program "podman"' });
  });

  it.each([
    [125, 'docker: Error response from daemon: pull access denied for x.'],
    [126, 'OCI runtime exec failed: exec failed: "work": executable file not found in $PATH: unknown'],
    [126, 'unable to find user batch: no matching entries in passwd file'],
    [127, '[FATAL tini (7)] exec work failed: No such file or directory'],
    [127, 'Error: crun: executable file `work` not found in $PATH'],
    [1, 'Error response from daemon: No such container: jobs_1'],
    [1, 'Cannot connect to the Docker daemon at unix:///engine. Is the docker daemon running?'],
  ])('and takes its complaint for what it is, with code %i: %s', async (code, complaint) => {
    // Docker passes what its runtime says on as output of the command.
    const to = complaint.startsWith('OCI') ? '' : '>&2';
    await engine.on(
      'run',
      `echo 'Unable to find image locally' ${to}; echo '${complaint}' ${to}; exit ${code}`,
    );
    expect(await execute({ container: IMAGE })).toMatchObject({
      status: 'fail',
      reason: 'spawn',
      message: complaint,
      evidence: { exit_code: code },
    });
  });

  it.each([
    [1, 'Error: order 7 is unknown', ''],
    [127, 'sh: work: not found', ''],
    [126, 'Error: something of its own', 'some output'],
  ])('and does not take a complaint of the command for one, with code %i: %s', async (code, text, out) => {
    await engine.on('run', `printf '%s' '${out}'; echo '${text}' >&2; exit ${code}`);
    expect(await execute({ container: IMAGE })).toMatchObject({
      reason: 'exit_code',
      evidence: { exit_code: code },
    });
  });

  it('to end a fresh container at the deadline: TERM, then KILL, and then it must be gone', async () => {
    await engine.on('run', 'echo $$ >"${0%/*}/pid"; sleep 1000');
    await engine.on('container', '[ -e "${0%/*}/killed" ] || echo true');
    await engine.on('kill', '[ "$3" != KILL ] || { echo >"${0%/*}/killed"; kill $(cat "${0%/*}/pid"); }');
    const outcome = await execute({ container: IMAGE }, 1000);
    expect(outcome).toMatchObject({ status: 'timeout', reason: 'deadline' });
    expect(outcome.evidence['processes_killed']).toBe('ax-e-1-2');
    const calls = (await engine.calls()).map(({ argv }) => argv.join(' ')).slice(1);
    expect(calls[0]).toBe('container inspect --format {{.State.Running}} ax-e-1-2');
    expect(calls[1]).toBe('kill --signal TERM ax-e-1-2');
    expect(calls).toContain('kill --signal KILL ax-e-1-2');
    expect(calls.at(-1)).toBe('rm --force ax-e-1-2');
  });

  it('to remove what a client that lost its engine may have left', async () => {
    await engine.on('run', 'echo "unexpected EOF" >&2; exit 125');
    await execute({ container: IMAGE });
    expect((await verbs()).at(-1)).toBe('rm --force');
  });

  it('to end what runs in a container when stopped, until nothing does', async () => {
    await engine.on(
      'exec',
      '[ "$2" = --env ] && { touch "${0%/*}/begun"; exec sleep 1000; }; [ "${8}" = KILL ] && touch "${0%/*}/killed"; [ -e "${0%/*}/killed" ] || echo 42',
    );
    const controller = new AbortController();
    const outcome = execute({ container: NAMED }, 20_000, controller.signal);
    await until('the command runs', async () => (await engine.calls()).length === 1);
    controller.abort('cancelled');
    expect(await outcome).toMatchObject({ status: 'fail', reason: 'cancelled' });
    expect((await outcome).evidence['processes_ended']).toMatch(/^jobs_1\/42, \d+ \(sleep\)$/);
    const signals = (await engine.calls()).slice(1).map(({ argv }) => argv[8]);
    expect(signals[0]).toBe('TERM');
    expect(signals.slice(1, signals.indexOf('KILL')).every((signal) => signal === '0')).toBe(true);
  });

  it('and says what it cannot see, where a container has no shell', async () => {
    await engine.on('exec', '[ "$2" = --env ] || { echo "OCI runtime exec failed: no sh" >&2; exit 126; }');
    expect(await execute({ container: NAMED })).toMatchObject({
      status: 'success',
      evidence: { processes_unseen: 'container "jobs_1" was not searched: OCI runtime exec failed: no sh' },
    });
  });
});
