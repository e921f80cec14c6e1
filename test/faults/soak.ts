import { readFile, readdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { type Redis } from 'ioredis';
import { Episode } from './episode.js';
import { explain } from './evidence.js';
import { Lane } from './lane.js';
import { plan } from './nemeses.js';
import { type ClusterNode } from './nodes.js';

const SAMPLE_MS = 5000;
/** A process is taken to be warm after this, and lives that were not much longer are left out. */
const WARM_MS = 60_000;
/** How long the cluster is left alone after the last fault, so that connections which were on their way out are gone. */
const REST_MS = 30_000;

interface Sample {
  readonly at: number;
  readonly rssMiB: number;
  readonly files: number;
}

/** What one life of a process used, over time. */
interface Life {
  readonly name: string;
  readonly pid: number;
  readonly samples: Sample[];
}

/** Random nemeses for some minutes on one cluster. Prints what each process used and what stayed in Redis; resolves with the breaches. */
export async function soak(
  minutes: number,
  seed: number,
  only: string | null,
  say: (line: string) => void,
): Promise<readonly string[]> {
  const lane = await Lane.start(1, seed);
  const lives = new Map<number, Life>();
  const sampling = setInterval(() => void sampleAll(lane.nodes, lives), SAMPLE_MS);
  try {
    const before = await lane.onRedis(restOf);
    const breaches: string[] = [];
    const endAt = Date.now() + minutes * 60_000;
    for (let number = 1; Date.now() < endAt; number++) {
      const nemesis = lane.pick(plan(7, only));
      const episode = await Episode.run(lane, nemesis, number, 5);
      const { slots, findings } = await episode.judge();
      for (const finding of findings.slice(0, 5)) breaches.push(await explain(lane, finding));
      say(`${number} ${nemesis.title ?? nemesis.name}: ${slots} slots, ${findings.length} breaches`);
    }
    await delay(REST_MS);
    await sampleAll(lane.nodes, lives);
    say(
      ['', processTable([...lives.values()]), '', redisTable(before, await lane.onRedis(restOf))].join('\n'),
    );
    return breaches;
  } finally {
    clearInterval(sampling);
    await lane.close();
  }
}

async function sampleAll(nodes: readonly ClusterNode[], lives: Map<number, Life>): Promise<void> {
  for (const { name, pid } of nodes) {
    if (pid === null) continue;
    const sample = await sampleOf(pid).catch(() => null); // It may have died meanwhile.
    if (sample === null) continue;
    const life = lives.get(pid) ?? { name, pid, samples: [] };
    lives.set(pid, life);
    life.samples.push(sample);
  }
}

async function sampleOf(pid: number): Promise<Sample> {
  const [status, files] = await Promise.all([
    readFile(`/proc/${pid}/status`, 'utf8'),
    readdir(`/proc/${pid}/fd`),
  ]);
  const rssKiB = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? NaN);
  return { at: Date.now(), rssMiB: rssKiB / 1024, files: files.length };
}

/** Memory as medians of the thirds of a warm life, since one sample says more of the last garbage collection than of growth. */
function processTable(lives: readonly Life[]): string {
  const rows = lives.flatMap(({ name, pid, samples }) => {
    const [first, last] = [samples[0], samples.at(-1)];
    const warm = samples.filter(({ at }) => first !== undefined && at >= first.at + WARM_MS);
    if (first === undefined || last === undefined || warm[0] === undefined) return [];
    const seconds = Math.round((last.at - first.at) / 1000);
    const third = Math.ceil(warm.length / 3);
    const thirds = [0, 1, 2]
      .map((i) => warm.slice(i * third, (i + 1) * third))
      .filter((part) => part.length > 0);
    const memory = thirds.map((part) => median(part.map(({ rssMiB }) => rssMiB)).toFixed(0)).join(' / ');
    const files = `${warm[0].files} / ${Math.max(...samples.map((sample) => sample.files))} / ${last.files}`;
    return [`| ${name} (${pid}) | ${seconds} s | ${memory} | ${files} |`];
  });
  return [
    '| process | life | RSS in MiB: medians of the thirds after the first minute | open files: after a minute / most / last |',
    '| --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

/** Keys by what they are for, and lengths of the streams. */
async function restOf(client: Redis): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const key of await client.keys('ax:{faults}:*')) {
    const kind = `keys ${key.split(':')[2]}`;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  counts.set('length of the queue', await client.xlen('ax:{faults}:queue:default'));
  counts.set('length of the results', await client.xlen('ax:{faults}:results'));
  return counts;
}

function redisTable(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): string {
  const kinds = [...new Set([...before.keys(), ...after.keys()])].toSorted();
  return [
    '| in Redis | before | after |',
    '| --- | --- | --- |',
    ...kinds.map((kind) => `| ${kind} | ${before.get(kind) ?? 0} | ${after.get(kind) ?? 0} |`),
  ].join('\n');
}
