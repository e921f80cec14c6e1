import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Registry } from '../../src/ports/registry.js';
import { until } from '../support/until.js';

export interface RegistryHarness<A extends { readonly instance: string }> {
  /** Two nodes of one cluster; the same one where there is only one process. */
  readonly nodes: readonly [Registry<A>, Registry<A>];
  /** Of another cluster. */
  readonly stranger: Registry<A>;
  /** Lets `ms` pass by the store's clock. */
  advance(ms: number): Promise<void>;
  /** Takes the store of the first node away and gives it back; only where it can be away. */
  readonly outage?: { begin(): void; end(): void };
  close(): Promise<void>;
}

/** What every Registry does. `canBeAway`: the store can become unreachable. `build`: what an instance says, another thing each turn. */
export function registrySuite<A extends { readonly instance: string }>(
  name: string,
  open: () => Promise<RegistryHarness<A>>,
  {
    canBeAway,
    build,
  }: { readonly canBeAway: boolean; readonly build: (instance: string, turn: number) => A },
): void {
  describe(`${name} as Registry`, () => {
    const say = (instance = 'somebody', turn = 0) => build(instance, turn);
    let harness: RegistryHarness<A>;
    beforeEach(async () => {
      harness = await open();
    });
    afterEach(() => harness.close());

    it('knows nobody at first', async () => {
      expect(await harness.nodes[0].list()).toEqual([]);
    });

    it('tells every node of the cluster what they said, and no other cluster', async () => {
      const [here, there] = harness.nodes;
      const said = ['b', 'a', 'c'].map((instance) => say(instance, 1));
      for (const [i, word] of said.entries()) await (i === 1 ? there : here).announce(word, 60_000);
      const inOrder = [said[1], said[0], said[2]];
      expect(await here.list()).toEqual(inOrder);
      expect(await there.list()).toEqual(inOrder);
      expect(await harness.stranger.list()).toEqual([]);
    });

    it('keeps the last word of each', async () => {
      const [here, there] = harness.nodes;
      await here.announce(say('a', 1), 60_000);
      const last = say('a', 2);
      await here.announce(last, 60_000);
      expect(await there.list()).toEqual([last]);
    });

    it('forgets who is silent for longer than it said, and nobody else', async () => {
      const [here, there] = harness.nodes;
      await here.announce(say('dead'), 200);
      const live = say('live');
      await here.announce(live, 60_000);
      await harness.advance(250);
      expect(await there.list()).toEqual([live]);
      const back = say('dead');
      await here.announce(back, 60_000);
      expect(await there.list()).toEqual([back, live]);
    });

    it('counts the life from the last announcement', async () => {
      const [here] = harness.nodes;
      await here.announce(say(), 200);
      await here.announce(say(), 60_000);
      await harness.advance(250);
      expect(await here.list()).toEqual([say()]);
    });

    it('forgets at once who withdraws, which can be repeated', async () => {
      const [here, there] = harness.nodes;
      const other = say('other');
      await here.announce(say(), 60_000);
      await here.announce(other, 60_000);
      await here.withdraw(say().instance);
      await here.withdraw(say().instance);
      expect(await there.list()).toEqual([other]);
    });

    it.skipIf(!canBeAway)('says so when the store is away, and goes on when it is back', async () => {
      const [here] = harness.nodes;
      await here.announce(say(), 60_000);
      harness.outage?.begin();
      const unavailable = { code: 'unavailable', retryable: true };
      await expect(here.list()).rejects.toMatchObject(unavailable);
      await expect(here.announce(say(), 60_000)).rejects.toMatchObject(unavailable);
      await expect(here.withdraw('other')).rejects.toMatchObject(unavailable);
      harness.outage?.end();
      const listed = await until('the registry answers', () => here.list().catch(() => null));
      expect(listed).toEqual([say()]);
    });
  });
}
