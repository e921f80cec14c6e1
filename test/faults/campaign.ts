import { Episode } from './episode.js';
import { explain } from './evidence.js';
import { Lane } from './lane.js';
import { names, plan } from './nemeses.js';
import { type Row, table } from './table.js';

export interface CampaignOptions {
  /** How often each nemesis strikes. */
  readonly times: number;
  /** Part of a nemesis' name, or all. */
  readonly only: string | null;
  /** Rounds go on until then. */
  readonly minutes: number | null;
  /** Clusters side by side, each with servers of its own. */
  readonly lanes: number;
  /** How long tasks go on after each nemesis. */
  readonly calmAfterSec: number;
  readonly seed: number;
  readonly say: (line: string) => void;
}

export interface CampaignResult {
  readonly rows: readonly Row[];
  readonly table: string;
  /** Explained, one text each. */
  readonly breaches: readonly string[];
}

const EXPLAINED = 5;

/** Runs every planned nemesis, each against a mix of tasks of its own, and judges all of them once more at the end. */
export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const endAt = options.minutes === null ? null : Date.now() + options.minutes * 60_000;
  const waiting = plan(options.times, options.only);
  let number = 0;
  const next = () => {
    if (endAt !== null && Date.now() > endAt) return null;
    if (waiting.length === 0 && endAt !== null) waiting.push(...plan(1, options.only));
    const nemesis = waiting.shift();
    return nemesis === undefined ? null : { nemesis, number: ++number };
  };
  const results = await Promise.all(
    Array.from({ length: options.lanes }, (_, i) => runLane(i + 1, options, next)),
  );
  const rows = results.flatMap((result) => result.rows);
  return { rows, table: table(rows, names()), breaches: results.flatMap((result) => result.breaches) };
}

async function runLane(
  index: number,
  { seed, calmAfterSec, say }: CampaignOptions,
  next: () => { readonly nemesis: Episode['nemesis']; readonly number: number } | null,
): Promise<Pick<CampaignResult, 'rows' | 'breaches'>> {
  const lane = await Lane.start(index, seed + index);
  const episodes: Episode[] = [];
  const broken: string[] = [];
  try {
    while (broken.length === 0) {
      const coming = next();
      if (coming === null) break;
      const { nemesis, number } = coming;
      const name = `${number} ${nemesis.title ?? nemesis.name}`;
      try {
        const episode = await Episode.run(lane, nemesis, number, calmAfterSec);
        episodes.push(episode);
        const { slots, findings } = await episode.judge();
        say(
          `${name}: ${slots} slots, ${findings.length} breaches, recovery ${await episode.recoveryMs()} ms`,
        );
      } catch (error) {
        broken.push(
          `${name}: could not be carried out: ${error instanceof Error ? error.stack : String(error)}`,
        );
      }
    }
    const judged = await judgeAll(lane, episodes);
    return { ...judged, breaches: [...broken, ...judged.breaches] };
  } finally {
    await lane.close();
  }
}

/** Judges with all that happened since, so that a call that came long after its episode counts too. */
async function judgeAll(
  lane: Lane,
  episodes: readonly Episode[],
): Promise<Pick<CampaignResult, 'rows' | 'breaches'>> {
  const rows: Row[] = [];
  const breaches: string[] = [];
  for (const episode of episodes) {
    const { name, title, bound } = episode.nemesis;
    const judgement = await episode.judge();
    rows.push({ nemesis: name, judgement, recoveryMs: await episode.recoveryMs(), bound });
    for (const finding of judgement.findings.slice(0, EXPLAINED)) {
      breaches.push(`${title ?? name}: ${await explain(lane, finding)}`);
    }
  }
  return { rows, breaches };
}
