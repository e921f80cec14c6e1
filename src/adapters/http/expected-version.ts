import { InvalidInput } from '../../domain/errors.js';

/**
 * The version that an If-Match header expects, null for any (`*`, or no header). One entity tag is taken, strong, weak or bare.
 * @throws InvalidInput on field `If-Match`.
 */
export function expectedVersion(ifMatch: string | undefined): number | null {
  if (ifMatch === undefined || ifMatch === '*') return null;
  const match = /^(?:(?:W\/)?"(\d{1,15})"|(\d{1,15}))$/.exec(ifMatch);
  if (match !== null) return Number(match[1] ?? match[2]);
  throw InvalidInput.of('If-Match', 'is not a version', 'send the ETag as it was read, such as "3", or *');
}

/** The ETag of a task: its version. */
export const versionTag = (version: number): string => `"${version}"`;
