import { type Nemesis } from './nemesis.js';
import { processNemeses } from './process-nemeses.js';
import { storeNemeses } from './store-nemeses.js';
import { trafficNemeses } from './traffic-nemeses.js';

const single = [...processNemeses, ...storeNemeses, ...trafficNemeses];

const named = (name: string): Nemesis => {
  const found = single.find((nemesis) => nemesis.name === name);
  if (found === undefined) throw new Error(`no nemesis is called "${name}"`);
  return found;
};

/** Pairs that do not undo each other's work, so that each can mend what it broke. */
const PAIRS: readonly (readonly [string, string])[] = [
  ['worker killed', 'Redis killed, back empty'],
  ['leader killed', 'MySQL killed and restarted'],
  ['worker paused past its claims', 'Redis failover, writes lost'],
  ['leader paused past its lease', 'Redis killed, back empty'],
  ['MySQL killed and restarted', 'Redis killed, back empty'],
  ["worker's connections stalled", 'messages delivered again'],
  ['leader and two workers killed', 'callee slow'],
];

const pair = (first: string, second: string): Nemesis => {
  const both = [named(first), named(second)] as const;
  return {
    name: 'two at once',
    title: `${first} + ${second}`,
    seconds: Math.max(...both.map((nemesis) => nemesis.seconds)),
    bound: null,
    strike: async (lane) => {
      const measures = await Promise.all(both.map((nemesis) => nemesis.strike(lane)));
      return { kind: 'none', at: Math.max(...measures.map(({ at }) => at)) };
    },
  };
};

/** Each nemesis as often as `times`; the pairs take turns. */
export function plan(times: number, only: string | null): Nemesis[] {
  const pairs = PAIRS.map(([first, second]) => pair(first, second));
  const mixed = Array.from({ length: times }, (_, i) => pairs[i % pairs.length] as Nemesis);
  const alone = Array.from({ length: times }, () => single).flat();
  const planned = [...alone, ...mixed].filter(
    ({ name }) => only === null || only.split(',').some((part) => name.includes(part)),
  );
  if (planned.length === 0) throw new Error(`--only ${only}: there is ${names().join(', ')}`);
  return planned;
}

export const names = (): string[] => [...single.map(({ name }) => name), 'two at once'];
