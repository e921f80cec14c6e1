import { expect, it } from 'vitest';
import { runCampaign } from './campaign.js';

/** The short campaign: every nemesis once, in four clusters side by side. The long one is `npm run faults`. */
it('no slot is doubled or lost under any nemesis', async () => {
  const seed = Date.now();
  const progress = [`seed ${seed}`];
  const { table, rows, breaches } = await runCampaign({
    times: 1,
    only: null,
    minutes: null,
    lanes: 4,
    calmAfterSec: 4,
    seed,
    say: (line) => progress.push(line),
  });
  process.stdout.write(`\n${table}\n`);
  expect(breaches, progress.join('\n')).toEqual([]);
  expect(rows.length).toBeGreaterThan(20);
}, 600_000);
