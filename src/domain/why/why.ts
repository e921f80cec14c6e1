/** The links of the chain that a run can have reached; docs/why.md says of each what it means and what to do. */
export const WHY_CODES = [
  // no event was due
  'not_due',
  'not_created',
  'deleted',
  'disabled',
  'outside_bounds',
  'calendar_excluded',
  // due, and no event
  'not_decided',
  'dispatch_paused',
  'task_broken',
  'missing',
  // decided, and not to be run
  'misfire_skipped',
  'calendar',
  'duplicate_refused',
  // triggered, and not begun
  'triggered',
  'not_published',
  'no_worker',
  'not_claimed',
  'waiting_overlap',
  'claimed',
  'overlap_skipped',
  'cancelled',
  'precheck',
  'skipped',
  // begun
  'running',
  'worker_lost',
  'queue_lost',
  'retrying',
  'not_persisted',
  // ended
  'succeeded',
  'failed',
  'timed_out',
  'outcome_unknown',
  // ax cannot tell
  'unknown',
] as const;
export type WhyCode = (typeof WHY_CODES)[number];

/** What became of one slot, or of an instant that is about none. Instants are epoch ms. */
export interface Why {
  readonly code: WhyCode;
  readonly slot: number | null;
  /** One sentence for people. */
  readonly summary: string;
  /** What it follows from, by snake_case name. */
  readonly evidence: Readonly<Record<string, unknown>>;
}

/** What only the queue and the workers know. Null: not asked, or no answer in time. */
export interface LiveFacts {
  /** What the queue says of the run; `unknown`: it has never heard of it, or has lost it. */
  readonly runState: 'queued' | 'waiting' | 'claimed' | 'finished' | 'unknown' | null;
  /** Messages in the queue, and above how many nothing is dispatched. */
  readonly queue: { readonly depth: number; readonly limit: number } | null;
  /** Workers that take runs of the task, and why its runs wait if there is none. */
  readonly workers: { readonly live: number; readonly problem: string | null } | null;
  /** Instances that announce themselves. */
  readonly instances: readonly string[] | null;
}

export const NOTHING_LIVE: LiveFacts = { runState: null, queue: null, workers: null, instances: null };

/** Writes an instant in the zone of the schedule. */
export type Say = (instant: number) => string;
