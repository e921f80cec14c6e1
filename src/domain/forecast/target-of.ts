import { type TaskDefinition } from '../task.js';

/** Where the work of a task lands: `http:<host>`, `mq:<broker>/<exchange>` or `shell:<pool>`. */
export function targetOf({ executor, pool }: Pick<TaskDefinition, 'executor' | 'pool'>): string {
  switch (executor.type) {
    case 'http':
      return `http:${URL.canParse(executor.url) ? new URL(executor.url).host : executor.url}`;
    case 'mq':
      return `mq:${executor.broker}/${executor.exchange}`;
    case 'shell':
      return `shell:${pool}`;
  }
}
