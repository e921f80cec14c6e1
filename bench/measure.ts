import { performance } from 'node:perf_hooks';

/** One contender: does `work` and answers how many units that was. */
export interface Contender {
  readonly name: string;
  /** Before each measured piece of work, not measured. */
  readonly prepare?: () => Promise<void>;
  readonly work: () => Promise<number | ElsewhereDone>;
}

/** Work of another process, and the processor time that it took there. */
interface ElsewhereDone {
  readonly units: number;
  readonly cpuUs: number;
}

/**
 * Runs the contenders in turn, `rounds` times, in another order each time: who comes next works on a machine that is still busy with what the
 * one before left it. Prints units per second, what share of the first contender's rate in the same round each one reaches, and the
 * processor time that a unit takes of the process that does it, which says more than the rate where others use the machine; medians of the
 * rounds.
 */
export async function compare(title: string, unit: string, rounds: number, contenders: readonly Contender[]) {
  for (const { prepare, work } of [...contenders, ...contenders]) {
    await prepare?.();
    await work(); // Warms up connections, caches and the compiler.
  }
  const measured = new Map<Contender, Measured[]>(contenders.map((contender) => [contender, []]));
  for (let round = 0; round < rounds; round++)
    for (const contender of shuffled(contenders)) measured.get(contender)?.push(await measure(contender));
  const base = [...measured.values()][0] ?? [];
  process.stdout.write(`\n${title}\n`);
  for (const [{ name }, all] of measured) {
    const rate = median(all.map((one) => one.rate));
    const share = median(all.map((one, round) => (one.rate / (base[round]?.rate ?? 0)) * 100));
    const cost = median(all.map((one) => one.costUs));
    process.stdout.write(
      `  ${name.padEnd(50)} ${rate.toFixed(0).padStart(8)} ${unit} ${share.toFixed(0).padStart(4)} %  ${cost.toFixed(0)} µs of its process each\n`,
    );
  }
}

interface Measured {
  /** Units per second. */
  readonly rate: number;
  /** Processor time of a unit, µs. */
  readonly costUs: number;
}

async function measure({ prepare, work }: Contender): Promise<Measured> {
  await prepare?.();
  const startedAt = performance.now();
  const cpu = process.cpuUsage();
  const done = await work();
  const elapsedMs = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpu);
  const { units, cpuUs } = typeof done === 'number' ? { units: done, cpuUs: user + system } : done;
  return { rate: (units / elapsedMs) * 1000, costUs: cpuUs / units };
}

const shuffled = <T>(all: readonly T[]): T[] =>
  all
    .map((one) => ({ one, at: Math.random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ one }) => one);

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0;
