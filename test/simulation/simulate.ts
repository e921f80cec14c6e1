import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { BREAKAGES, type Breakage } from './breakage.js';
import { planOf } from './plan.js';
import { simulate } from './simulation.js';
import { shrink } from './shrink.js';
import { storyOf } from './story.js';

const USAGE =
  'npm run simulate -- [--seed 1] [--runs 100] [--hours 1] [--jobs 2] [--break KIND] [--no-shrink]';

/** Nearly all that a simulation allocates dies at once: with the default of a thread it spends a tenth more time on collecting that. */
const YOUNG_MIB = 48;

interface Share {
  /** First seed, and the distance to the next one. */
  readonly first: number;
  readonly every: number;
  readonly end: number;
  readonly hours: number;
  readonly breakage: Breakage | null;
  readonly shrinks: boolean;
}

interface Told {
  readonly seed: number;
  readonly events: number;
  /** Empty if all rules hold. */
  readonly lines: readonly string[];
}

/** One run, and if it breaks a rule its shortest story. */
async function tell(seed: number, { hours, breakage, shrinks }: Share): Promise<Told> {
  const plan = planOf(String(seed), hours);
  const result = await simulate(plan, breakage);
  const events = result.events.length;
  if (result.violations.length === 0) return { seed, events, lines: [] };
  const short = shrinks ? await shrink(plan, result, breakage) : { plan, result };
  const rule = result.violations[0]?.rule;
  const violation = short.result.violations.find((found) => found.rule === rule) ?? null;
  const lines = [
    ...result.violations.slice(0, 10).map(({ rule: name, text }) => `${name}: ${text}`),
    ...(shrinks
      ? [
          `shortest: ${short.plan.steps.length} of ${plan.steps.length} steps`,
          ...storyOf(short.result, violation),
        ]
      : []),
    ...(shrinks ? [`steps: ${JSON.stringify({ ...short.plan })}`] : []),
  ];
  return { seed, events, lines };
}

async function work(share: Share, say: (told: Told) => void): Promise<void> {
  for (let seed = share.first; seed < share.end; seed += share.every) say(await tell(seed, share));
}

/** Plays the seeds on several threads and prints what breaks a rule. Returns the exit code. */
async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: '1' },
      runs: { type: 'string', default: '100' },
      hours: { type: 'string', default: '1' },
      jobs: { type: 'string', default: '2' },
      break: { type: 'string' },
      'no-shrink': { type: 'boolean', default: false },
    },
  });
  const [seed, runs, hours, jobs] = [values.seed, values.runs, values.hours, values.jobs].map(Number) as [
    number,
    number,
    number,
    number,
  ];
  const breakage = BREAKAGES.find((known) => known === values.break) ?? null;
  const isUsable =
    [seed, runs, hours, jobs].every((n) => n > 0) && (values.break === undefined || breakage !== null);
  if (!isUsable) {
    process.stderr.write(`usage: ${USAGE}\nKIND: ${BREAKAGES.join(', ')}\n`);
    return 2;
  }
  const startedAt = performance.now();
  const total = { runs: 0, events: 0, failed: [] as number[] };
  const listen = (told: Told) => {
    total.runs += 1;
    total.events += told.events;
    if (told.lines.length === 0) return;
    total.failed.push(told.seed);
    process.stdout.write(
      `seed ${told.seed} breaks a rule\n${told.lines.map((line) => `  ${line}\n`).join('')}`,
    );
  };
  await Promise.all(
    Array.from({ length: Math.min(jobs, runs) }, (_, i) => {
      const share = {
        first: seed + i,
        every: Math.min(jobs, runs),
        end: seed + runs,
        hours,
        breakage,
        shrinks: !values['no-shrink'],
      };
      return onThread(share, listen);
    }),
  );
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const verdict = total.failed.length === 0 ? 'no rule broken' : `${total.failed.length} broke a rule`;
  process.stdout.write(
    `${total.runs} runs, ${total.runs * hours} cluster-hours, ${total.events} events in ${seconds} s: ${verdict}\n`,
  );
  return total.failed.length === 0 ? 0 : 1;
}

function onThread(share: Share, listen: (told: Told) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(new URL(import.meta.url), {
      workerData: share,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MIB },
    });
    thread.on('message', listen);
    thread.on('error', reject);
    thread.on('exit', () => resolve());
  });
}

if (isMainThread) process.exitCode = await main();
else await work(workerData as Share, (told) => parentPort?.postMessage(told));
