import { type Knex } from 'knex';
import { describe, expect, it } from 'vitest';
import { type Dialect, type DriverFailure } from '../../../../src/adapters/sql/dialect.js';
import { Rollback, SqlDb } from '../../../../src/adapters/sql/sql-db.js';
import { AxError, messageOf } from '../../../../src/domain/errors.js';
import { total, valuesOf } from '../../../support/measured.js';
import { RecordingMetrics } from '../../../support/recording.js';

const failure = (kind: string) => Object.assign(new Error(kind), { code: kind, sql: 'x'.repeat(100_000) });

function setUp() {
  const pauses: number[] = [];
  const knex = { transaction: (work: (trx: unknown) => Promise<unknown>) => work({}) };
  const dialect = {
    failureOf: (error: unknown): DriverFailure | null => {
      const message = messageOf(error);
      return message === 'bug' || error instanceof Rollback
        ? null
        : { kind: message as DriverFailure['kind'], message };
    },
  };
  const clock = {
    now: () => 0,
    monotonicMs: () => 0,
    sleep: async (ms: number) => void pauses.push(ms),
    schedule: () => () => undefined,
  };
  const metrics = new RecordingMetrics();
  const db = new SqlDb(knex as unknown as Knex, dialect as Dialect, clock, { next: () => 0.5 }, metrics);
  /** Fails with these kinds, one after the other, then succeeds. */
  const run = (...kinds: string[]) =>
    db.transaction(async () => {
      const kind = kinds.shift();
      if (kind !== undefined) throw failure(kind);
      return 'done';
    });
  return { db, run, pauses, metrics };
}

describe('SqlDb', () => {
  it('repeats what lost to another transaction, after growing jittered pauses', async () => {
    const { run, pauses } = setUp();
    expect(await run('contention', 'contention', 'contention')).toBe('done');
    expect(pauses).toEqual([20, 40, 80]);
  });

  it('measures each operation once, its repetitions, and what the driver failed, but no error of a callback', async () => {
    const { db, run, metrics } = setUp();
    await run('contention', 'contention');
    await expect(run('unavailable')).rejects.toThrow();
    await expect(run('bug')).rejects.toThrow();
    await expect(db.transaction(() => Promise.reject(new AxError('not_found', 'no')))).rejects.toThrow();
    await expect(db.read(() => Promise.reject(failure('refused_value')))).rejects.toThrow();
    expect(total(metrics, 'sql_retries_total')).toBe(2);
    expect(
      metrics.seen.filter(({ name }) => name === 'sql_errors_total').map(({ labels }) => labels),
    ).toEqual([
      { operation: 'transaction', code: 'unavailable' },
      { operation: 'read', code: 'invalid_input' },
    ]);
    const durations = (operation: string) =>
      valuesOf(metrics, 'sql_operation_duration_seconds', { operation }).length;
    expect([durations('transaction'), durations('read')]).toEqual([4, 1]);
  });

  it('ends as unavailable when it loses again and again', async () => {
    const { run, pauses } = setUp();
    const losing = run(...Array.from({ length: 100 }, () => 'contention'));
    await expect(losing).rejects.toMatchObject({ code: 'unavailable', retryable: true });
    expect(pauses).toHaveLength(6);
  });

  it.each([
    ['unavailable', 'unavailable'],
    ['refused_value', 'invalid_input'],
    ['duplicate', 'conflict'],
  ])('does not repeat %s', async (kind, code) => {
    const { run, pauses } = setUp();
    await expect(run(kind)).rejects.toMatchObject({ code });
    expect(pauses).toEqual([]);
  });

  it('keeps the cause without its statement', async () => {
    const { run } = setUp();
    const error = await run('unavailable').catch((thrown: unknown) => thrown as AxError);
    expect((error as AxError).cause).toMatchObject({ message: 'unavailable', code: 'unavailable' });
    expect(JSON.stringify((error as AxError).cause).length).toBeLessThan(1000);
  });

  it('passes errors that are not the driver’s through as they are', async () => {
    const { db } = setUp();
    for (const error of [new Error('bug'), new AxError('not_found', 'there is no task')]) {
      const failing = async () => {
        throw error;
      };
      await expect(db.transaction(failing)).rejects.toBe(error);
      await expect(db.read(failing)).rejects.toBe(error);
    }
  });

  it('returns the value of a rollback that was asked for', async () => {
    const { db } = setUp();
    const undone = db.transaction(async (): Promise<string> => {
      throw new Rollback('undone');
    });
    expect(await undone).toBe('undone');
  });
});
