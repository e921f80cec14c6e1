import { performance } from 'node:perf_hooks';

/** One contender: does `work` and answers how many units that was. */
export interface Contender {
  readonly name: string;
  readonly work: () => Promise<number>;
}

/**
 * Runs the contenders in turn, `rounds` times, so that a noisy machine is noisy for all; prints units per second (median of the rounds)
 * and what share of the first contender's each one reaches.
 */
export async function compare(title: string, unit: string, rounds: number, contenders: readonly Contender[]) {
  const rates = new Map<string, number[]>(contenders.map(({ name }) => [name, []]));
  for (const { work } of contenders) await work(); // Warms up connections, caches and the compiler.
  for (let round = 0; round < rounds; round++) {
    for (const { name, work } of contenders) {
      const startedAt = performance.now();
      const units = await work();
      rates.get(name)?.push((units / (performance.now() - startedAt)) * 1000);
    }
  }
  const base = median(rates.get(contenders[0]?.name ?? '') ?? []);
  process.stdout.write(`\n${title}\n`);
  for (const [name, all] of rates) {
    const rate = median(all);
    const share = `${((rate / base) * 100).toFixed(0)} %`;
    process.stdout.write(
      `  ${name.padEnd(44)} ${rate.toFixed(0).padStart(8)} ${unit}  ${share.padStart(6)}\n`,
    );
  }
}

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0;
