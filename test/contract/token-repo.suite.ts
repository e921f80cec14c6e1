import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { BASE } from '../support/builders.js';
import { type Store, type StoreFactory } from '../support/store.js';

const hashOf = (digit: string) => digit.repeat(64);

export function tokenRepoSuite(name: string, open: StoreFactory): void {
  describe(`TokenRepo: ${name}`, () => {
    let store: Store;
    beforeAll(async () => {
      store = await open();
    });
    beforeEach(() => store.clear());
    afterAll(() => store.close());

    const insert = (tokenName: string, hash: string) =>
      store.tokens.insertIfAbsent({ name: tokenName, hash, createdAt: BASE });

    it('finds a name by its hash, and by nothing like it', async () => {
      expect(await insert('admin', hashOf('a'))).toBe(true);
      expect(await insert('ci — 配備', hashOf('b'))).toBe(true);
      expect(await store.tokens.findByHash(hashOf('a'))).toBe('admin');
      expect(await store.tokens.findByHash(hashOf('b'))).toBe('ci — 配備');
      for (const hash of [hashOf('A'), hashOf('c'), '', 'é', `${hashOf('a')} `]) {
        expect(await store.tokens.findByHash(hash)).toBeNull();
      }
    });

    it('keeps the first token of a name', async () => {
      await insert('admin', hashOf('a'));
      expect(await insert('admin', hashOf('b'))).toBe(false);
      expect(await store.tokens.findByHash(hashOf('b'))).toBeNull();
      expect(await store.tokens.findByHash(hashOf('a'))).toBe('admin');
    });

    it('lets one of twenty concurrent callers store', async () => {
      const callers = Array.from({ length: 20 }, (_, i) => insert('admin', String(i).padStart(64, '0')));
      const stored = await Promise.all(callers);
      expect(stored.filter(Boolean)).toHaveLength(1);
      const winner = String(stored.indexOf(true)).padStart(64, '0');
      expect(await store.tokens.findByHash(winner)).toBe('admin');
    });
  });
}
