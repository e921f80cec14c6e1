import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type TimeReference } from '../../src/ports/time-reference.js';
import { until } from '../support/until.js';

export interface TimeReferenceHarness {
  /** Two nodes that share the reference. */
  readonly nodes: readonly [TimeReference, TimeReference];
  /** The reference's time by another way, epoch ms. */
  direct(): Promise<number>;
  /** Lets this much time pass. */
  advance(ms: number): Promise<void>;
  readonly outage: { begin(): void; end(): void };
  close(): Promise<void>;
}

export function timeReferenceSuite(name: string, open: () => Promise<TimeReferenceHarness>): void {
  describe(`${name} as TimeReference`, () => {
    let harness: TimeReferenceHarness;
    beforeEach(async () => {
      harness = await open();
    });
    afterEach(() => harness.close());

    it('tells epoch ms, read between call and answer, the same to every node', async () => {
      const seen: number[] = [];
      for (let n = 0; n < 20; n += 1) {
        seen.push(await harness.direct());
        for (const node of harness.nodes) seen.push(await node.nowMs());
        await harness.advance(1);
      }
      seen.push(await harness.direct());
      expect(seen[0]).toBeGreaterThan(Date.UTC(2020, 0, 1));
      expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    });

    it('goes as fast as time does', async () => {
      const [node] = harness.nodes;
      const from = [await harness.direct(), await node.nowMs(), await harness.direct()] as const;
      await harness.advance(200);
      const to = [await harness.direct(), await node.nowMs(), await harness.direct()] as const;
      expect(to[1] - from[1]).toBeGreaterThanOrEqual(Math.max(200, to[0] - from[2]));
      expect(to[1] - from[1]).toBeLessThanOrEqual(to[2] - from[0]);
    });

    it('is unavailable while away, and back by itself', async () => {
      const [node] = harness.nodes;
      await node.nowMs();
      harness.outage.begin();
      await expect(node.nowMs()).rejects.toMatchObject({ code: 'unavailable', retryable: true });
      harness.outage.end();
      const time = await until('it answers again', () => node.nowMs().catch(() => null));
      expect(time).toBeLessThanOrEqual(await harness.direct());
    });
  });
}
