import { execFileSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ShellExecutor } from '../../src/adapters/executors/shell/shell-executor.js';
import { SystemClock } from '../../src/adapters/system/system-clock.js';
import { type Outcome } from '../../src/domain/execution.js';
import { type ShellExecutorSpec } from '../../src/domain/executors/shell-spec.js';
import { type ExecutorRequest } from '../../src/ports/executor.js';
import { BASE } from '../support/builders.js';
import { ShellPeer } from '../support/shell-peer.js';
import { buildRequest, executorSuite, outcomeOf } from './executor.suite.js';

const PATH = process.env['PATH'] ?? '';
const SECRETS = { AX_REDIS_URL: 'redis://:secret@cache', DB_PASSWORD: 'secret' };
const options = {
  clock: new SystemClock(),
  killGraceMs: 5000,
  cwd: '/',
  engine: 'docker' as const,
  environment: { PATH, HOME: '/home/ax', LANG: 'de_DE.UTF-8', TZ: 'Europe/Berlin', ...SECRETS },
};

executorSuite('ShellExecutor', async (clock) => ({
  executor: new ShellExecutor({ ...options, clock, killGraceMs: 60_000 }),
  peer: await ShellPeer.open(),
}));

describe('ShellExecutor', () => {
  const executor = new ShellExecutor(options);
  let peer: ShellPeer;

  beforeEach(async () => {
    peer = await ShellPeer.open();
  });

  afterEach(async () => {
    expect(peer.atWork()).toBe(0);
    await peer.close();
  });

  const execute = (
    spec: ShellExecutorSpec,
    overrides: Partial<ExecutorRequest<ShellExecutorSpec>> = {},
    by = executor,
  ): Promise<Outcome> =>
    outcomeOf(by, buildRequest(spec, { timeoutMs: 20_000, ...overrides }), new AbortController().signal);
  const run = (script: string, overrides: Partial<ShellExecutorSpec> = {}) =>
    execute(peer.command(script, overrides));
  const start = (argv: readonly string[], overrides: Partial<ShellExecutorSpec> = {}) =>
    execute({ ...peer.command(''), run: { argv }, ...overrides });
  const linesOf = ({ evidence }: Outcome) => String(evidence['stdout_tail']).trim().split('\n').toSorted();

  describe('tells a command', () => {
    it('what it built, and nothing else of the worker: no setting, no secret', async () => {
      const spec = { ...peer.command(''), run: { argv: ['env'] }, env: { COLOR: 'blue', LANG: 'C' } };
      const outcome = await execute(spec, {
        executionId: 'e-1',
        attempt: 2,
        params: { names: ['ä\n', '"'] },
      });
      expect(linesOf(outcome)).toEqual(
        [
          'AX_ATTEMPT=2',
          'AX_EXECUTION_ID=e-1',
          'AX_PARAMS={"names":["ä\\n","\\""]}',
          `AX_SCHEDULE_AT=${BASE}`,
          'AX_TASK_ID=task-1',
          'COLOR=blue',
          'HOME=/home/ax',
          'LANG=C',
          `PATH=${PATH}`,
          'TZ=Europe/Berlin',
        ].toSorted(),
      );
    });

    it('defaults where the worker has none', async () => {
      const bare = new ShellExecutor({ ...options, environment: {} });
      const spec = { ...peer.command(''), run: { argv: ['env'] }, env: {} };
      const outcome = await execute(spec, {}, bare);
      const base = linesOf(outcome).filter((line) => !line.startsWith('AX_'));
      expect(base).toEqual(['HOME=/', 'LANG=C.UTF-8', expect.stringMatching(/^PATH=.*\/usr\/bin/), 'TZ=UTC']);
    });

    it('parameters of 64 KiB', async () => {
      const params = 'x'.repeat(65_534);
      const outcome = await execute(peer.command('printf %s "$AX_PARAMS" | wc -c'), { params });
      expect(linesOf(outcome)).toEqual(['65536']);
    });

    it('nothing on its standard input', async () => {
      expect(await run('cat; readlink /proc/self/fd/0')).toMatchObject({
        status: 'success',
        evidence: { stdout_tail: '/dev/null\n' },
      });
    });

    it('arguments as they are', async () => {
      const outcome = await start(['printf', '%s|', 'a b', '$HOME', '*', '']);
      expect(outcome.evidence['stdout_tail']).toBe('a b|$HOME|*||');
    });

    it('the working directory of the task, else that of the worker', async () => {
      expect((await start(['pwd'])).evidence['stdout_tail']).toBe(`${peer.folder}\n`);
      expect((await start(['pwd'], { cwd: null })).evidence['stdout_tail']).toBe('/\n');
    });
  });

  describe('judges', () => {
    it.each([1, 3, 127, 255])('exit code %i as fail', async (code) => {
      expect(await run(`echo why >&2; exit ${code}`)).toMatchObject({
        status: 'fail',
        reason: 'exit_code',
        message: `exited with code ${code}`,
        evidence: { exit_code: code, stdout_bytes: 0, stderr_bytes: 4, stderr_tail: 'why\n' },
      });
    });

    it('the end by a signal as fail', async () => {
      const outcome = await run('kill -SEGV $$');
      expect(outcome).toMatchObject({
        reason: 'signal',
        message: 'ended by SIGSEGV',
        evidence: { signal: 'SIGSEGV' },
      });
      expect(outcome.evidence).not.toHaveProperty('exit_code');
    });

    it('a full disk as what the command makes of it', async () => {
      const outcome = await run('head -c 100000 /dev/zero >/dev/full');
      expect(outcome).toMatchObject({ status: 'fail', reason: 'exit_code', evidence: { exit_code: 1 } });
      expect(outcome.evidence['stderr_tail']).toContain('No space left on device');
    });

    it('a child that became a zombie as ended', async () => {
      const { status, evidence } = await run('sh -c "true & exec sleep 0.3"');
      expect(status).toBe('success');
      expect(Object.keys(evidence).filter((key) => key.startsWith('processes'))).toEqual([]);
    });

    it.each<
      [what: string, argv: string[], overrides: Partial<ShellExecutorSpec>, message: string, code: string]
    >([
      ['no such program', ['no-such-program'], {}, 'there is no program "no-such-program" in PATH', 'ENOENT'],
      ['no such file', ['/no/such'], {}, 'there is no program "/no/such"', 'ENOENT'],
      [
        'no such folder',
        ['true'],
        { cwd: '/no/such' },
        'the working directory "/no/such" does not exist',
        'ENOENT',
      ],
      [
        'a file as folder',
        ['true'],
        { cwd: '/etc/passwd' },
        'the working directory "/etc/passwd" is not a directory',
        'ENOTDIR',
      ],
      [
        'a file that is no program',
        ['/etc/passwd'],
        {},
        'the worker may not execute "/etc/passwd"',
        'EACCES',
      ],
      [
        'too much',
        ['true'],
        { env: Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`V${n}`, 'x'.repeat(32_768)])) },
        'arguments and environment together are too large',
        'E2BIG',
      ],
    ])('what cannot start as fail with the cause: %s', async (_what, argv, overrides, message, code) => {
      const outcome = await start(argv, overrides);
      expect(outcome).toMatchObject({ status: 'fail', reason: 'spawn', evidence: { error_code: code } });
      expect(outcome.message).toContain(message);
      expect(Object.keys(outcome.evidence).toSorted()).toEqual(['duration_ms', 'error_code']);
    });

    it('a script whose interpreter is missing as that', async () => {
      await run("printf '#!/no/such\\n' >script; chmod +x script");
      expect((await start([`${peer.folder}/script`])).message).toContain('the interpreter that');
    });
  });

  const isRoot = process.geteuid?.() === 0;
  describe.skipIf(!isRoot)('as another user (needs root)', () => {
    it('has ids, groups and home of the user, and leaves nothing of the worker', async () => {
      const outcome = await run('id; echo "$HOME"', {
        user: 'nobody',
        cwd: '/',
        run: { command: 'id; echo "$HOME"' },
      });
      const home = execFileSync('getent', ['passwd', 'nobody'], { encoding: 'utf8' }).split(':')[5];
      const ids = execFileSync('id', ['nobody'], { encoding: 'utf8' }).trim();
      expect(outcome.evidence['stdout_tail']).toBe(`${ids}\n${home}\n`);
    });

    it('cannot read the environment of the worker', async () => {
      const command = `cat /proc/${process.pid}/environ`;
      const outcome = await run('', { user: 'nobody', cwd: '/', run: { command } });
      expect(outcome).toMatchObject({ reason: 'exit_code', evidence: { stdout_bytes: 0 } });
    });

    it('is ended with all it started', async () => {
      const spec = {
        ...peer.command(''),
        run: { command: 'setsid sleep 1000 & sleep 1000' },
        user: 'nobody',
      };
      const outcome = await execute(spec, { timeoutMs: 1000 });
      expect(outcome.status).toBe('timeout');
      expect(outcome.evidence['processes_ended']).toMatch(/sleep.*sleep/);
    });

    it('is not started if the user or the program does not exist', async () => {
      expect(await start(['true'], { user: 'no-such-user' })).toMatchObject({
        reason: 'spawn',
        message: 'this worker knows no user "no-such-user"',
      });
      const missing = await start(['no-such-program'], { user: 'nobody', cwd: '/' });
      expect(missing).toMatchObject({ reason: 'spawn' });
      expect(missing.message).toContain('no-such-program');
    });
  });

  it('takes no orders from the environment about who becomes another user', async () => {
    await run('printf "#!/bin/sh\\necho taken over\\n" >setpriv; chmod +x setpriv');
    const outcome = await start(['true'], {
      user: isRoot ? 'nobody' : 'root',
      env: { PATH: `${peer.folder}:${PATH}` },
    });
    expect(outcome.evidence['stdout_tail']).toBeUndefined();
  });
});
