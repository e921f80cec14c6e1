import { type Outcome } from '../../../domain/execution.js';
import { type ShellExecutorSpec } from '../../../domain/executors/shell-spec.js';
import { type Clock } from '../../../ports/clock.js';
import { type Executor, type ExecutorRequest } from '../../../ports/executor.js';
import { stopReasonOf } from '../stop-reason.js';
import { type Environment, marksOf } from './child-environment.js';
import { type CommandEnd, CommandRun } from './command-run.js';
import { CannotSee, ContainerEngine } from './container-engine.js';
import { endRunning, type Running } from './end-running.js';
import { CannotStart, hostCommandOf } from './host-command.js';
import { HostProcesses, killGroup } from './host-processes.js';
import { ProcessTable } from './process-table.js';
import { type CleanUp, NOTHING_TO_CLEAN, shellOutcomeOf } from './shell-outcome.js';

export interface ShellExecutorOptions {
  readonly clock: Clock;
  /** Between TERM and KILL. */
  readonly killGraceMs: number;
  /** Of commands whose task names none. */
  readonly cwd: string;
  readonly engine: 'docker' | 'podman';
  /** The worker's own; a command gets a few of it, the client of the container engine all. */
  readonly environment: Environment;
}

type Request = ExecutorRequest<ShellExecutorSpec>;

/**
 * Runs a command in a session and process group of its own, on this machine or in a container: exit code 0 is success. When it has
 * ended, or at the deadline, or when it is stopped, everything that the attempt still has running is ended (`endRunning`), so that
 * nothing of it runs on; what could not be ended is in the evidence. Output is read to its end and not kept, but for two tails.
 */
export class ShellExecutor implements Executor<ShellExecutorSpec> {
  readonly type = 'shell';

  private readonly table = new ProcessTable();
  private readonly engine: ContainerEngine;
  private readonly runs = new Set<CommandRun>();

  constructor(private readonly options: ShellExecutorOptions) {
    const { engine: program, environment, cwd } = options;
    this.engine = new ContainerEngine({ program, environment, cwd });
  }

  async execute(request: Request, signal: AbortSignal): Promise<Outcome> {
    const { clock } = this.options;
    const run = new CommandRun();
    const startedAt = clock.monotonicMs();
    const stop = () => run.end({ kind: 'stopped', reason: stopReasonOf(signal) });
    signal.addEventListener('abort', stop, { once: true });
    const cancelDeadline = clock.schedule(request.timeoutMs, () => run.end({ kind: 'deadline' }));
    this.enter(run);
    try {
      if (signal.aborted) stop();
      const orphans =
        run.hasEnded || request.attempt === 1 ? NOTHING_TO_CLEAN : await this.endOrphans(request);
      const here = run.hasEnded ? null : await this.start(run, request);
      const end = await run.ended;
      cancelDeadline();
      const cleanUp = here === null ? NOTHING_TO_CLEAN : await this.cleanUp(request, here, run, end);
      await run.drained();
      const durationMs = clock.monotonicMs() - startedAt;
      const isWrapped = request.spec.container !== null || request.spec.user !== null;
      const facts = { durationMs, timeoutMs: request.timeoutMs, isWrapped, orphans: orphans.found };
      const outcome = shellOutcomeOf(run, end, cleanUp, facts);
      if (outcome.status !== 'success' || !signal.aborted) return outcome;
      // The abort came while ax ended what a successful command had left behind: aborted is never success.
      return shellOutcomeOf(run, { kind: 'stopped', reason: stopReasonOf(signal) }, cleanUp, facts);
    } finally {
      cancelDeadline();
      signal.removeEventListener('abort', stop);
      this.leave(run);
    }
  }

  /** No process outlives its attempt, so there is none to end. */
  async close(): Promise<void> {}

  /** An earlier attempt runs on if its worker was killed: two at a time would be one too many. */
  private endOrphans({ executionId }: Request): Promise<CleanUp> {
    return this.endAll([HostProcesses.ofExecution(this.table, executionId)]);
  }

  /** What it has running on this machine from now on; null if it has not started. */
  private async start(run: CommandRun, request: Request): Promise<HostProcesses | null> {
    const { container } = request.spec;
    try {
      const command =
        container === null
          ? await hostCommandOf(request, this.options)
          : this.engine.command(request, container);
      if (!run.hasEnded) run.start(command);
      const { leader } = run;
      return leader === null ? null : HostProcesses.of(this.table, leader, marksOf(request));
    } catch (error) {
      if (!(error instanceof CannotStart)) throw error;
      run.end({ kind: 'not_started', message: error.message, code: '' });
      return null;
    }
  }

  private async cleanUp(request: Request, here: Running, run: CommandRun, end: CommandEnd): Promise<CleanUp> {
    const { container } = request.spec;
    if (container === null) return this.endAll([here]);
    const isFresh = 'image' in container;
    // A client that ended well, or with its command's own code, has seen its fresh container end.
    if (isFresh && end.kind === 'exited' && run.exit?.signal === null && run.exit.code !== 125) {
      return this.endAll([here]);
    }
    const cleanUp = await this.endAll([this.engine.running(request, container), here]);
    if (isFresh) await this.engine.remove(request);
    return cleanUp;
  }

  /** One place after the other. */
  private async endAll(places: readonly Running[]): Promise<CleanUp> {
    const { clock, killGraceMs: graceMs } = this.options;
    let all = NOTHING_TO_CLEAN;
    for (const place of places) {
      try {
        const { found, killed, left } = await endRunning(place, { clock, graceMs });
        all = {
          ...all,
          found: [...all.found, ...found],
          killed: [...all.killed, ...killed],
          left: [...all.left, ...left],
        };
      } catch (error) {
        if (!(error instanceof CannotSee)) throw error;
        all = { ...all, unseen: error.message };
      }
    }
    return all;
  }

  private enter(run: CommandRun): void {
    if (this.runs.size === 0) process.once('exit', this.killAll);
    this.runs.add(run);
  }

  private leave(run: CommandRun): void {
    this.runs.delete(run);
    if (this.runs.size === 0) process.off('exit', this.killAll);
  }

  /** A worker that ends without waiting for its runs takes them along. */
  private readonly killAll = (): void => {
    for (const { leader } of this.runs) if (leader !== null) killGroup(leader);
  };
}
