/** Pools with a series of their own; the others share one. */
const MAX_POOLS = 100;
const OTHER_POOLS = '_other';

/** The name under which each of these pools is measured; the first ones, each counted once, keep their own. */
export function boundedPools(pools: readonly string[]): (pool: string) => string {
  const own = new Set([...new Set(pools)].slice(0, MAX_POOLS));
  return (pool) => (own.has(pool) ? pool : OTHER_POOLS);
}
