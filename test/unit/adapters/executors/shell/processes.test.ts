import { describe, expect, it } from 'vitest';
import { kinOf } from '../../../../../src/adapters/executors/shell/host-processes.js';
import {
  environmentOf,
  parseStat,
  type ProcessRow,
  ProcessTable,
  rowOf,
} from '../../../../../src/adapters/executors/shell/process-table.js';

const MARKS = ['AX_EXECUTION_ID=e', 'AX_ATTEMPT=1'];
const kinship = { leader: 100, startedAt: 500, marks: MARKS };

const row = (pid: number, overrides: Partial<ProcessRow> = {}): ProcessRow => ({
  pid,
  program: 'sleep',
  isZombie: false,
  parent: 1,
  group: pid,
  session: pid,
  startedAt: 500,
  ...overrides,
});

const kin = (rows: readonly ProcessRow[], environments: Readonly<Record<number, readonly string[]>> = {}) =>
  kinOf(rows, kinship, (pid) => environments[pid] ?? []).map(({ pid }) => pid);

describe('the processes of an attempt', () => {
  it('are those of its group and of its session', () => {
    expect(kin([row(100), row(101, { group: 100 }), row(102, { session: 100 }), row(103)])).toEqual([
      100, 101, 102,
    ]);
  });

  it('are those with its marks, all of them', () => {
    const environments = {
      200: ['PATH=/bin', ...MARKS],
      201: ['AX_EXECUTION_ID=e', 'AX_ATTEMPT=12'],
      202: ['AX_EXECUTION_ID=ee', 'AX_ATTEMPT=1'],
    };
    expect(kin([row(200), row(201), row(202)], environments)).toEqual([200]);
  });

  it('are the children, sessions and children of sessions of all these', () => {
    const rows = [
      row(203, { parent: 202 }),
      row(202, { session: 300 }),
      row(201, { session: 300 }),
      row(204, { parent: 203, session: 400 }),
      row(205, { session: 400 }),
      row(206, { session: 500 }),
    ];
    expect(kin(rows, { 201: MARKS }).toSorted()).toEqual([201, 202, 203, 204, 205]);
  });

  it('are not zombies, but their children', () => {
    expect(kin([row(101, { group: 100, isZombie: true }), row(200, { parent: 101 })])).toEqual([200]);
  });

  it('are never older than the attempt, never the worker itself, and never all of session 0', () => {
    const rows = [
      row(200, { startedAt: 499 }),
      row(process.pid),
      row(201, { session: 0 }),
      row(202, { session: 0 }),
    ];
    expect(kin(rows, { 200: MARKS, 201: MARKS, [process.pid]: MARKS })).toEqual([201]);
  });

  it('are none by their marks if there are no marks', () => {
    expect(kinOf([row(200)], { ...kinship, marks: [] }, () => [])).toEqual([]);
  });
});

describe('a line of /proc/<pid>/stat', () => {
  it('may have any program name', () => {
    const rest = '0 -1 4194304 58 0 0 0 0 0 0 0 39 19 1 0 12577 27033';
    expect(parseStat(`7 (a) b (S 1) Z 6 5 4 ${rest}\n`)).toEqual({
      pid: 7,
      program: 'a) b (S 1',
      isZombie: true,
      parent: 6,
      group: 5,
      session: 4,
      startedAt: 12577,
    });
  });
});

describe.skipIf(process.platform !== 'linux')('ProcessTable (needs Linux)', () => {
  it('shows this process, its parent and its environment', async () => {
    const rows = await new ProcessTable().read();
    expect(rows?.find(({ pid }) => pid === process.pid)).toMatchObject({
      parent: process.ppid,
      isZombie: false,
    });
    expect(environmentOf(process.pid)).toContain(`PATH=${process.env['PATH']}`);
  });

  it('reads once for all who ask at the same time, and anew for who asks later', async () => {
    const table = new ProcessTable();
    const [first, second] = await Promise.all([table.read(), table.read()]);
    expect(second).toBe(first);
    expect(await table.read()).not.toBe(first);
  });

  it('shows nothing of a process that has ended', () => {
    expect(rowOf(2 ** 30)).toBeNull();
    expect(environmentOf(2 ** 30)).toEqual([]);
  });
});
