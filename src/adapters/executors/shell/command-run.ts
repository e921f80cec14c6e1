import { setTimeout as delay } from 'node:timers/promises';
import { execa } from 'execa';
import { type StopReason } from '../../../ports/executor.js';
import { OutputTail } from '../output-tail.js';
import { type HostCommand } from './host-command.js';
import { whyNotStarted } from './why-not-started.js';

export type CommandEnd =
  | { readonly kind: 'exited' }
  | { readonly kind: 'not_started'; readonly message: string; readonly code: string }
  | { readonly kind: 'deadline' }
  | { readonly kind: 'stopped'; readonly reason: StopReason };

/** How the command itself ended: by an exit code, or by a signal. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const TAIL_BYTES = 65_536;
/** What was written before the end is in a pipe's buffer; who keeps the pipe open after it has escaped. */
const DRAIN_MS = 2000;

/** Output is read as it comes and kept here, not there; ends are ours, since execa ends only the process itself and not its group. */
const OPTIONS = {
  detached: true,
  extendEnv: false,
  stdin: 'ignore',
  buffer: false,
  encoding: 'buffer',
  stripFinalNewline: false,
  reject: false,
  cleanup: false,
  forceKillAfterDelay: false,
} as const;

const spawn = ({ argv: [program = '', ...words], cwd, env }: HostCommand) =>
  execa(program, words, { ...OPTIONS, cwd, env });

/**
 * One command from its start to its end. The first `end` decides and is never overwritten, whether it comes from the command (`exited`,
 * `not_started`) or from outside (`deadline`, `stopped`), which ends no process by itself. A command that closes its output and goes
 * on is waited for; so is none that has ended and left its output to somebody else.
 */
export class CommandRun {
  readonly stdout = new OutputTail(TAIL_BYTES);
  readonly stderr = new OutputTail(TAIL_BYTES);
  /** Somebody kept the output open after everybody else had ended. */
  isOutputCut = false;
  /** Null while the command runs, and if it never did. */
  exit: Exit | null = null;
  readonly ended: Promise<CommandEnd>;

  private how: CommandEnd | null = null;
  private child: ReturnType<typeof spawn> | null = null;
  private resolve!: (how: CommandEnd) => void;

  constructor() {
    this.ended = new Promise((resolve) => (this.resolve = resolve));
  }

  get hasEnded(): boolean {
    return this.how !== null;
  }

  /** Process id of the command, which is that of its group and session too; null if it has not started. */
  get leader(): number | null {
    return this.child?.pid ?? null;
  }

  /** To be called once. */
  start(command: HostCommand): void {
    const child = spawn(command);
    this.child = child;
    child.stdout.on('data', (chunk: Uint8Array) => this.stdout.push(chunk));
    child.stderr.on('data', (chunk: Uint8Array) => this.stderr.push(chunk));
    child.once('exit', (code, signal) => {
      this.exit = { code, signal };
      this.end({ kind: 'exited' });
    });
    void child.then(({ code = '', originalMessage = '' }) => {
      // Without a process there is no exit.
      if (child.pid !== undefined) return;
      this.end({ kind: 'not_started', code, message: whyNotStarted(command, code, originalMessage) });
    });
  }

  end(how: CommandEnd): void {
    if (this.how !== null) return;
    this.how = how;
    this.resolve(how);
  }

  /** After the last process has ended: what is left in the pipes, and not more. */
  async drained(): Promise<void> {
    if (this.child === null) return;
    const waiting = new AbortController();
    const closed = this.child.then(() => waiting.abort());
    await delay(DRAIN_MS, undefined, { signal: waiting.signal }).catch(() => undefined);
    if (!waiting.signal.aborted) {
      this.isOutputCut = true;
      this.child.stdout.destroy();
      this.child.stderr.destroy();
    }
    if (this.leader === null || this.exit !== null) await closed;
  }
}
