import { type TaskDefinition } from './task.js';

/** Lane of a pool's shell tasks; no pool is named so, since names have no "#". */
export const shellLaneOf = (pool: string): string => `${pool}#shell`;

/** The lane that a task's messages go through: those of shell tasks reach only workers that allow shell. */
export const laneOf = ({ pool, executor }: Pick<TaskDefinition, 'pool' | 'executor'>): string =>
  executor.type === 'shell' ? shellLaneOf(pool) : pool;
