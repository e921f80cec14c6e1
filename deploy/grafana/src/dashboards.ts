import { fleet } from './fleet.js';
import { infrastructure } from './infrastructure.js';
import { task } from './task.js';

/** File name → its text, as it is checked in. */
export const DASHBOARDS: ReadonlyMap<string, string> = new Map(
  [fleet, task, infrastructure].map((dashboard) => [
    `${dashboard.uid}.json`,
    `${JSON.stringify(dashboard, null, 2)}\n`,
  ]),
);
