import { parseArgs } from 'node:util';
import { runCampaign } from './campaign.js';
import { soak } from './soak.js';

const USAGE = `npm run faults -- [options]
  --times N     how often each nemesis strikes (5)
  --minutes M   instead: rounds of all nemeses until M minutes have passed
  --only TEXTS  only nemeses with one of these in their name, separated by commas
  --lanes N     clusters side by side (3)
  --soak M      instead: random nemeses for M minutes on one cluster, and what its processes used
  --seed S      of the choices between variants (1)`;

/** The long campaign. Resolves with the exit code: 0 when the rule held. */
export async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      times: { type: 'string' },
      minutes: { type: 'string' },
      only: { type: 'string' },
      lanes: { type: 'string', default: '3' },
      seed: { type: 'string', default: '1' },
      soak: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    print(USAGE);
    return 0;
  }
  if (values.soak !== undefined) {
    const breaches = await soak(Number(values.soak), Number(values.seed), values.only ?? null, print);
    print(breaches.join('\n'));
    return breaches.length === 0 ? 0 : 1;
  }
  const minutes = values.minutes === undefined ? null : Number(values.minutes);
  const result = await runCampaign({
    times: Number(values.times ?? (minutes === null ? 5 : 1)),
    only: values.only ?? null,
    minutes,
    lanes: Number(values.lanes),
    calmAfterSec: 8,
    seed: Number(values.seed),
    say: print,
  });
  print(['', ...result.breaches, '', result.table].join('\n'));
  return result.breaches.length === 0 ? 0 : 1;
}

const print = (text: string) => process.stdout.write(`${text}\n`);
