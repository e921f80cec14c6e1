import { execa } from 'execa';
import { type ContainerSpec, type ShellExecutorSpec } from '../../../domain/executors/shell-spec.js';
import { type ExecutorRequest } from '../../../ports/executor.js';
import { type Environment, marksOf, runVariables } from './child-environment.js';
import { type HostCommand, programIn, wordsOf } from './host-command.js';
import { type EndSignal, type Running } from './end-running.js';

type Request = ExecutorRequest<ShellExecutorSpec>;

/** Names that the engine's own client heeds: their values go as arguments, so that a task gives the client no orders. */
const HEEDED =
  /^(PATH|HOME|TMPDIR|(LD|GLIBC|DOCKER|PODMAN|CONTAINERS?|STORAGE|XDG|BUILDKIT|BUILDAH|OTEL|REGISTRY|SSL|MALLOC)_.*|GO.*|.*_PROXY)$/i;
const CALL_MS = 15_000;
const NOT_RUNNING = /no such container|is not running/i;

interface Answer {
  /** Null if the client did not end by itself. */
  readonly exitCode: number | null;
  readonly stdout: string;
  /** First line of what it complained about. */
  readonly problem: string;
}

/** Why nobody knows what runs in a container. */
export class CannotSee extends Error {}

/**
 * Ends whatever carries the marks, and the sessions of that, in a container. Arguments: signal (`0`: none), the marks. Prints the ids
 * of those that run. Needs `sh` and `grep` in the container.
 */
const SIGNAL_MARKED = `
signal=$1; shift
facts() { IFS= read -r stat 2>/dev/null < "/proc/$1/stat" || return 1; set -- \${stat##*) }; state=$1; session=$4; }
pids=''; sessions=' '
for dir in /proc/[0-9]*; do
  pid=\${dir#/proc/}
  [ "$pid" = 1 ] || [ "$pid" = "$$" ] && continue
  pids="$pids $pid"
  marked=1
  for mark in "$@"; do grep -q "$mark" "$dir/environ" 2>/dev/null || { marked=0; break; }; done
  [ "$marked" = 1 ] && facts "$pid" && [ "$session" -gt 1 ] && sessions="$sessions$session "
done
for pid in $pids; do
  facts "$pid" || continue
  case "$sessions" in *" $session "*) ;; *) continue;; esac
  [ "$state" = Z ] && continue
  [ "$signal" = 0 ] || kill -s "$signal" "$pid" 2>/dev/null
  echo "$pid"
done`;

/** Docker or Podman, by their command-line clients. */
export class ContainerEngine {
  constructor(
    private readonly options: {
      readonly program: 'docker' | 'podman';
      /** What the client finds its engine and its settings by. */
      readonly environment: Environment;
      /** Where the client runs. */
      readonly cwd: string;
    },
  ) {}

  /**
   * The client that runs the attempt in its container. Variables go by their names, so that no other user of this machine reads their
   * values from the arguments. @throws CannotStart if there is no client.
   */
  command(request: Request, container: ContainerSpec): HostCommand {
    const { spec } = request;
    const given: Environment = { ...spec.env, ...runVariables(request) };
    const names = Object.keys(given);
    const [program = '', ...words] = wordsOf(spec);
    const options = [
      ...(spec.cwd === null ? [] : ['--workdir', spec.cwd]),
      ...(spec.user === null ? [] : ['--user', spec.user]),
      ...names.flatMap((name) => ['--env', HEEDED.test(name) ? `${name}=${given[name]}` : name]),
    ];
    const fresh = ['run', '--rm', '--init', '--log-driver', 'none', '--name', containerNameOf(request)];
    const argv =
      'name' in container
        ? [this.client(), 'exec', ...options, container.name, program, ...words]
        : // The task names the whole command, so the image's own entry point has no part in it.
          [this.client(), ...fresh, ...options, '--entrypoint', program, container.image, ...words];
    const passed = Object.fromEntries(Object.entries(given).filter(([name]) => !HEEDED.test(name)));
    return { argv, cwd: this.options.cwd, env: { ...this.options.environment, ...passed } };
  }

  /** What the attempt has running inside. */
  running(request: Request, container: ContainerSpec): Running {
    return 'name' in container ? this.inNamed(request, container.name) : this.fresh(containerNameOf(request));
  }

  /** Makes sure that a fresh container is gone, even one that was made and never started. */
  async remove(request: Request): Promise<void> {
    await this.call(['rm', '--force', containerNameOf(request)]);
  }

  private inNamed(request: Request, name: string): Running {
    const marks = marksOf(request);
    return {
      pollMs: 250,
      signal: async (signal) => {
        const script = ['sh', '-c', SIGNAL_MARKED, 'ax', signal === null ? '0' : shortName(signal), ...marks];
        const { exitCode, stdout, problem } = await this.call(['exec', '--user', '0', name, ...script]);
        if (exitCode !== 0) {
          if (NOT_RUNNING.test(problem)) return [];
          throw new CannotSee(`container "${name}" was not searched: ${problem}`);
        }
        return stdout.split('\n').flatMap((pid) => (pid === '' ? [] : [`${name}/${pid}`]));
      },
    };
  }

  private fresh(name: string): Running {
    return {
      pollMs: 250,
      signal: async (signal) => {
        const format = ['--format', '{{.State.Running}}'];
        const { stdout } = await this.call(['container', 'inspect', ...format, name]);
        if (stdout.trim() !== 'true') return [];
        if (signal !== null) await this.call(['kill', '--signal', shortName(signal), name]);
        return [name];
      },
    };
  }

  private async call(words: readonly string[]): Promise<Answer> {
    const { environment: env, cwd } = this.options;
    const options = { env, cwd, extendEnv: false, reject: false, stdin: 'ignore', timeout: CALL_MS } as const;
    const { exitCode = null, stdout, stderr, timedOut } = await execa(this.client(), words, options);
    const problem = timedOut ? `no answer within ${CALL_MS} ms` : (stderr.split('\n', 1)[0] ?? '');
    return { exitCode, stdout, problem };
  }

  private client(): string {
    return programIn(this.options.environment['PATH'] ?? '/usr/bin:/bin', this.options.program);
  }
}

const containerNameOf = ({ executionId, attempt }: Request): string => `ax-${executionId}-${attempt}`;

const shortName = (signal: EndSignal): string => signal.slice(3);
