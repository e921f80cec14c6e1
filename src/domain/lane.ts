import { type TaskDefinition } from './task.js';

/** No pool is named so, since names have no "#". */
const SHELL = '#shell';
const shellLaneOf = (pool: string): string => pool + SHELL;

/** The lane that a task's messages go through: those of shell tasks reach only workers that allow shell. */
export const laneOf = ({ pool, executor }: Pick<TaskDefinition, 'pool' | 'executor'>): string =>
  executor.type === 'shell' ? shellLaneOf(pool) : pool;

/** The lanes of a worker that serves these pools. */
export const lanesOf = (pools: readonly string[], allowsShell: boolean): readonly string[] =>
  allowsShell ? pools.flatMap((pool) => [pool, shellLaneOf(pool)]) : pools;

/** The pool that a lane is of. */
export const poolOf = (lane: string): string => (lane.endsWith(SHELL) ? lane.slice(0, -SHELL.length) : lane);
