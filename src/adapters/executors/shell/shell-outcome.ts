import { type Evidence, type Outcome } from '../../../domain/execution.js';
import { printable } from '../output-tail.js';
import { type CommandEnd, type CommandRun } from './command-run.js';

/** What was done about the processes of an attempt, over all places. */
export interface CleanUp {
  /** Whoever had to be ended. */
  readonly found: readonly string[];
  readonly killed: readonly string[];
  readonly left: readonly string[];
  /** Why it is not known whether somebody is left; null if it is. */
  readonly unseen: string | null;
}

export const NOTHING_TO_CLEAN: CleanUp = { found: [], killed: [], left: [], unseen: null };

const MAX_NAMES = 20;
/** Complaints of a container's client, or of setpriv, about a command that they did not start. */
const CLIENT_COMPLAINT =
  /^(?:docker: .+|Error response from daemon: .+|OCI runtime .+|unable to find user .+|Cannot connect to .+)$/m;
const REFUSAL =
  /^(?:docker: .+|OCI runtime .+|unable to find user .+|Error: .+|setpriv: .+|\[FATAL tini .+|ERROR \(catatonit.+)$/m;

/**
 * What an ended command means. Evidence: `duration_ms` always; `exit_code` or `signal`, `stdout_bytes`, `stdout_tail`, `stderr_bytes`,
 * `stderr_tail` as far as it ran; `is_output_cut` if somebody kept the output open; `processes_ended`, `processes_killed` (ids and
 * programs) of those that ax had to end, `processes_left`, `processes_unseen` of those that it could not; `orphans_ended`
 * of earlier attempts, whose worker was killed; `error_code` if it did not start.
 */
export function shellOutcomeOf(
  run: CommandRun,
  end: CommandEnd,
  cleanUp: CleanUp,
  facts: {
    readonly durationMs: number;
    readonly timeoutMs: number;
    readonly isWrapped: boolean;
    readonly orphans: readonly string[];
  },
): Outcome {
  const orphans = facts.orphans.length > 0 ? { orphans_ended: namesOf(facts.orphans) } : {};
  const evidence = { ...evidenceOf(run, cleanUp), ...orphans, duration_ms: Math.round(facts.durationMs) };
  const left = cleanUp.left.length > 0 ? `; still running: ${namesOf(cleanUp.left)}` : '';
  const fail = (reason: Outcome['reason'], message: string, more: Evidence = {}): Outcome => {
    return { status: 'fail', reason, message: printable(message + left), evidence: { ...more, ...evidence } };
  };
  switch (end.kind) {
    case 'not_started':
      return fail('spawn', end.message, end.code === '' ? {} : { error_code: end.code });
    case 'deadline': {
      const message = `not ended within ${facts.timeoutMs} ms${left}`;
      return { status: 'timeout', reason: 'deadline', message, evidence };
    }
    case 'stopped':
      return fail(end.reason, `${end.reason} while the command ran`);
    case 'exited': {
      const { code = null, signal = null } = run.exit ?? {};
      if (signal !== null) return fail('signal', `ended by ${signal}`);
      if (code === 0) return { status: 'success', reason: null, message: null, evidence };
      const refusal = facts.isWrapped ? refusalOf(run, code) : null;
      return refusal === null ? fail('exit_code', `exited with code ${code}`) : fail('spawn', refusal);
    }
  }
}

/** The complaint of whoever should have started the command, by the exit codes and on the streams that such programs use. */
function refusalOf({ stdout, stderr }: CommandRun, code: number | null): string | null {
  const isOfClient = code === 125 || code === 126 || code === 127;
  if (!isOfClient && code !== 1) return null;
  if (stdout.bytes > 0 && stderr.bytes > 0) return null;
  const text = stdout.bytes > 0 ? stdout.text() : stderr.text();
  const [line = null] = (isOfClient ? REFUSAL : CLIENT_COMPLAINT).exec(text) ?? [];
  return line;
}

function evidenceOf(run: CommandRun, { found, killed, left, unseen }: CleanUp): Evidence {
  const evidence: Record<string, string | number | boolean> = {};
  const { code = null, signal = null } = run.exit ?? {};
  if (signal !== null) evidence['signal'] = signal;
  else if (code !== null) evidence['exit_code'] = code;
  if (run.leader !== null) {
    for (const [name, output] of [
      ['stdout', run.stdout],
      ['stderr', run.stderr],
    ] as const) {
      evidence[`${name}_bytes`] = output.bytes;
      if (output.bytes > 0) evidence[`${name}_tail`] = output.text();
    }
  }
  if (run.isOutputCut) evidence['is_output_cut'] = true;
  if (found.length > 0) evidence['processes_ended'] = namesOf(found);
  if (killed.length > 0) evidence['processes_killed'] = namesOf(killed);
  if (left.length > 0) evidence['processes_left'] = namesOf(left);
  if (unseen !== null) evidence['processes_unseen'] = unseen;
  return evidence;
}

const namesOf = (names: readonly string[]): string =>
  names.length <= MAX_NAMES
    ? names.join(', ')
    : `${names.slice(0, MAX_NAMES).join(', ')} and ${names.length - MAX_NAMES} more`;
