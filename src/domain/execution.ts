import { AxError } from './errors.js';
import { type PostHook } from './hooks.js';
import { type Reason } from './reason.js';
import { type TriggerEvent } from './trigger.js';

/** No other status is ever added: finer detail is a reason beside it. */
export const STATUSES = ['pending', 'running', 'retrying', 'success', 'fail', 'timeout', 'skipped'] as const;
export type Status = (typeof STATUSES)[number];

/** Legal moves of one execution. A status without moves is terminal. */
const TRANSITIONS: Readonly<Record<Status, readonly Status[]>> = {
  pending: ['running', 'skipped', 'fail'],
  running: ['retrying', 'success', 'fail', 'timeout', 'pending'],
  retrying: ['running', 'fail', 'pending'],
  success: [],
  fail: [],
  timeout: [],
  skipped: [],
};

export const isTerminal = (status: Status): boolean => TRANSITIONS[status].length === 0;

/** The status after a move; a terminal status absorbs late reports. @throws AxError `illegal_transition`. */
export function transition(from: Status, to: Status): Status {
  if (isTerminal(from) || from === to) return from;
  if (TRANSITIONS[from].includes(to)) return to;
  throw new AxError('illegal_transition', `an execution cannot go from ${from} to ${to}`);
}

/** What a target did. An executor returns exactly one of three statuses, each with its evidence. */
export interface Outcome {
  readonly status: 'success' | 'fail' | 'timeout';
  readonly reason: Reason | null;
  /** One line for people; null on plain success. */
  readonly message: string | null;
  readonly evidence: Evidence;
}

/** Facts of one attempt, by snake_case name (`http_status`, `bytes`, `error_code`, `output_tail`, …). */
export type Evidence = Readonly<Record<string, string | number | boolean>>;

export type LedgerKind =
  | 'triggered'
  | 'published'
  | 'precheck_failed'
  | 'precheck_passed'
  | 'waiting'
  | 'claimed'
  | 'reclaimed'
  | 'resumed'
  | 'attempt_started'
  | 'delivered'
  | 'progress'
  | 'slow'
  | 'attempt_failed'
  | 'retry_planned'
  | 'handed_back'
  | 'republished'
  | 'finished'
  | 'post_hook_sent'
  | 'post_hook_failed';

/** One line of an execution's append-only history. Instants are epoch ms. */
export interface LedgerEntry {
  readonly kind: LedgerKind;
  readonly at: number;
  readonly node: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** Everything that was known of an execution when the entry was made; self-contained, so that any order of arrival works. */
export interface ExecutionReport {
  readonly executionId: string;
  readonly taskId: string;
  /** Claim generation; 0 for the coordinator's own verdicts. */
  readonly generation: number;
  /** Counts the reports of one generation. */
  readonly seq: number;
  readonly status: Status;
  readonly reason: Reason | null;
  readonly message: string | null;
  readonly worker: string | null;
  /** The latest attempt; 0 before the first. */
  readonly attempt: number;
  /** Start of the first attempt. */
  readonly startedAt: number | null;
  /** Only with a terminal status. */
  readonly finishedAt: number | null;
  readonly evidence: Evidence;
  readonly entry: LedgerEntry;
  /** Trace context of the step that ended the execution; only with a terminal status. */
  readonly traceparent?: string;
  /** Only with a terminal status that the task's post-hook asks for. */
  readonly owed?: OwedSummary;
}

/** What is to be told of an execution that has ended, and to whom. */
export interface OwedSummary {
  readonly hook: PostHook;
  readonly taskName: string;
  readonly group: string;
}

/** Whether a run is one that somebody may want to look into: it failed, was tried again, or was slow. */
export const isNotable = ({
  status,
  attempt,
  evidence,
}: Pick<ExecutionReport, 'status' | 'attempt' | 'evidence'>): boolean =>
  status === 'fail' || status === 'timeout' || attempt > 1 || 'slow_after_sec' in evidence;

const SEQ_SPAN = 1_000_000;
const TERMINAL_PROGRESS = Number.MAX_SAFE_INTEGER;

/**
 * How far a report takes its execution. Storage keeps the report with the highest progress, which makes applying reports
 * idempotent and free of order; a terminal report is above all others, so the first one applied is never overwritten.
 */
export function progressOf(report: Pick<ExecutionReport, 'status' | 'generation' | 'seq'>): number {
  return isTerminal(report.status)
    ? TERMINAL_PROGRESS
    : report.generation * SEQ_SPAN + Math.min(report.seq, SEQ_SPAN - 1);
}

/** The current state of one execution, as lists show it. */
export interface Execution {
  readonly event: TriggerEvent;
  readonly status: Status;
  readonly reason: Reason | null;
  readonly message: string | null;
  readonly worker: string | null;
  readonly generation: number;
  readonly attempt: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly evidence: Evidence;
}

/** An execution before any report. */
export const pendingExecution = (event: TriggerEvent): Execution => ({
  event,
  status: 'pending',
  reason: null,
  message: null,
  worker: null,
  generation: 0,
  attempt: 0,
  startedAt: null,
  finishedAt: null,
  evidence: {},
});
