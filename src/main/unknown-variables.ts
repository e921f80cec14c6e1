import leven from 'leven';
import { isBrokerVariable } from './broker-variables.js';
import { isSecretVariable } from './secret-variables.js';

/** Told to the commands of shell tasks, so that an `ax` among them must not take them for settings. */
const RUN_VARIABLES: readonly string[] = [
  'AX_TASK_ID',
  'AX_EXECUTION_ID',
  'AX_ATTEMPT',
  'AX_SCHEDULE_AT',
  'AX_PARAMS',
];

/** Names that begin with `AX_` and that nobody knows, each with the nearest of `known`. `AX_TEST_…` belongs to the test suite. */
export function unknownNames(env: NodeJS.ProcessEnv, known: readonly string[]): string[] {
  return Object.keys(env)
    .filter((key) => key.startsWith('AX_') && !key.startsWith('AX_TEST_'))
    .filter((key) => !known.includes(key) && !RUN_VARIABLES.includes(key))
    .filter((key) => !isBrokerVariable(key) && !isSecretVariable(key))
    .map((key) => {
      const nearest = known.toSorted((a, b) => leven(key, a) - leven(key, b))[0] ?? '';
      const isNear = leven(key, nearest) <= Math.max(2, key.length / 4);
      return `${key}: unknown variable${isNear ? `, did you mean ${nearest}?` : ''}`;
    });
}
