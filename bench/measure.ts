import { performance } from 'node:perf_hooks';

/** One contender: does `work` and answers how many units that was. */
export interface Contender {
  readonly name: string;
  /** Before each measured piece of work, not measured. */
  readonly prepare?: () => Promise<void>;
  readonly work: () => Promise<number>;
}

/**
 * Runs the contenders in turn, `rounds` times, so that a noisy machine is noisy for all; prints units per second (median of the rounds)
 * what share of the first contender's each one reaches, and the processor time that a unit takes of this process, which says more than the
 * rate where others use the machine.
 */
export async function compare(title: string, unit: string, rounds: number, contenders: readonly Contender[]) {
  const costs = new Map<string, number[]>(contenders.map(({ name }) => [name, []]));
  const rates = new Map<string, number[]>(contenders.map(({ name }) => [name, []]));
  for (const { prepare, work } of [...contenders, ...contenders]) {
    await prepare?.();
    await work(); // Warms up connections, caches and the compiler.
  }
  for (let round = 0; round < rounds; round++) {
    for (const { name, prepare, work } of contenders) {
      await prepare?.();
      const startedAt = performance.now();
      const cpu = process.cpuUsage();
      const units = await work();
      rates.get(name)?.push((units / (performance.now() - startedAt)) * 1000);
      const { user, system } = process.cpuUsage(cpu);
      costs.get(name)?.push((user + system) / units);
    }
  }
  const base = median(rates.get(contenders[0]?.name ?? '') ?? []);
  process.stdout.write(`\n${title}\n`);
  for (const [name, all] of rates) {
    const rate = median(all);
    const share = `${((rate / base) * 100).toFixed(0)} %`;
    const cost = `${median(costs.get(name) ?? []).toFixed(0)} µs of this process each`;
    process.stdout.write(
      `  ${name.padEnd(50)} ${rate.toFixed(0).padStart(8)} ${unit} ${share.padStart(6)}  ${cost}\n`,
    );
  }
}

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0;
