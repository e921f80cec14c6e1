import { type TaskDefinition } from './task.js';

/** No pool is named so, since names have no "#". */
const shellLaneOf = (pool: string): string => `${pool}#shell`;

/** The lane that a task's messages go through: those of shell tasks reach only workers that allow shell. */
export const laneOf = ({ pool, executor }: Pick<TaskDefinition, 'pool' | 'executor'>): string =>
  executor.type === 'shell' ? shellLaneOf(pool) : pool;

/** The lanes of a worker that serves these pools. */
export const lanesOf = (pools: readonly string[], allowsShell: boolean): readonly string[] =>
  allowsShell ? pools.flatMap((pool) => [pool, shellLaneOf(pool)]) : pools;
