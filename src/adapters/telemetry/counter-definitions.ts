import { type Counters, OF_TASK } from './metric-definition.js';

export const COUNTERS: Counters = {
  triggers_total: {
    by: 'coordinator',
    help: 'Trigger events recorded.',
    labels: { kind: 'schedule or manual' },
    zeros: [{ kind: 'schedule' }, { kind: 'manual' }],
  },
  misfires_total: {
    by: 'coordinator',
    help: 'Slots that fired after their window.',
    labels: { policy: 'misfire policy' },
  },
  slots_skipped_total: {
    by: 'coordinator',
    help: 'Slots recorded without a run, each slot of a range counted.',
    labels: { reason: 'why' },
  },
  duplicates_prevented_total: {
    by: 'every',
    help: 'Second events or runs of one slot that were refused.',
    labels: { line: 'which line of defence caught it' },
    zeros: [{ line: 'unique_key' }, { line: 'slot_lock' }, { line: 'claim' }],
  },
  task_errors_total: {
    by: 'coordinator',
    help: 'Tasks that could not be triggered as stored, counted again with every try.',
    labels: {},
  },
  tick_errors_total: { by: 'coordinator', help: 'Turns of the tick that failed.', labels: {} },
  leader_changes_total: { by: 'coordinator', help: 'Times this node became leader.', labels: {} },
  republished_total: {
    by: 'coordinator',
    help: 'Events published again because the queue had lost them.',
    labels: {},
  },
  reclaims_total: {
    by: 'worker',
    help: 'Runs taken over from another worker, that died or handed them back.',
    labels: {},
  },
  executions_total: {
    by: 'every',
    help: 'Executions ended, each once over all nodes.',
    labels: { ...OF_TASK, status: 'final status', reason: 'its reason, or none' },
  },
  attempts_total: {
    by: 'worker',
    help: 'Attempts ended; one that another worker goes on with is counted there.',
    labels: { ...OF_TASK, status: 'success, fail or timeout', reason: 'its reason, or none' },
  },
  slow_executions_total: {
    by: 'worker',
    help: 'Runs that took longer than their slow_after_sec.',
    labels: OF_TASK,
  },
  claims_lost_total: { by: 'worker', help: 'Runs stopped because their claim was lost.', labels: {} },
  results_applied_total: {
    by: 'coordinator',
    help: 'Reports written to the execution store, repeated ones included.',
    labels: {},
  },
  prechecks_total: {
    by: 'worker',
    help: 'Checks of pre-hooks.',
    labels: { result: 'passed or failed' },
    zeros: [{ result: 'passed' }, { result: 'failed' }],
  },
  post_hooks_total: {
    by: 'coordinator',
    help: 'Tries to tell a post-hook.',
    labels: { result: 'sent, failed (and tried again) or given_up' },
    zeros: [{ result: 'sent' }, { result: 'failed' }, { result: 'given_up' }],
  },
  mq_receipts_total: {
    by: 'worker',
    help: 'Receipts taken from reply queues.',
    labels: { answer: 'accepted, or why it counted for nothing' },
  },
  poison_messages_total: {
    by: 'every',
    help: 'Messages dropped because they cannot be decoded or stored.',
    labels: { stream: 'queue or results' },
    zeros: [{ stream: 'queue' }, { stream: 'results' }],
  },
  sql_errors_total: {
    by: 'coordinator',
    help: 'Operations that MySQL or SQLite failed.',
    labels: { operation: 'read or transaction', code: 'of the error' },
  },
  sql_retries_total: {
    by: 'coordinator',
    help: 'Transactions begun again because they lost to a concurrent one.',
    labels: {},
  },
  redis_errors_total: {
    by: 'every',
    help: 'Operations on Redis that failed.',
    labels: { code: 'of the error' },
  },
  metrics_overflow_total: {
    by: 'every',
    help: 'Measurements that fell to _other, since no more tasks may have series of their own.',
    labels: {},
  },
};
