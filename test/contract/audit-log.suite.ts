import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AuditEntry } from '../../src/ports/audit.js';
import { BASE } from '../support/builders.js';
import { type Store, type StoreFactory } from '../support/store.js';

export function auditLogSuite(name: string, open: StoreFactory): void {
  describe(`AuditLog: ${name}`, () => {
    let store: Store;
    beforeAll(async () => {
      store = await open();
    });
    beforeEach(() => store.clear());
    afterAll(() => store.close());

    const entry = (overrides: Partial<AuditEntry> = {}): AuditEntry => ({
      at: BASE + 999,
      actor: 'ann — 安',
      action: 'task.update',
      subject: 'task',
      before: { name: 'Ä "quoted" \\', labels: {}, deep: [null, 1.5, true] },
      after: null,
      ...overrides,
    });

    it('gives back entries as they were, newest first', async () => {
      const [first, second] = [entry(), entry({ at: BASE, before: null, after: 'text?' })];
      await store.audit.append(first);
      await store.audit.append(second);
      expect(await store.audit.list({ limit: 10 })).toEqual([second, first]);
    });

    it('keeps to the subject and the limit', async () => {
      for (const subject of ['a', 'b', 'A', 'a']) await store.audit.append(entry({ subject }));
      expect((await store.audit.list({ subject: 'a', limit: 10 })).map((e) => e.subject)).toEqual(['a', 'a']);
      expect(await store.audit.list({ limit: 3 })).toHaveLength(3);
      expect(await store.audit.list({ subject: 'none', limit: 3 })).toEqual([]);
    });

    it('takes large entries', async () => {
      const large = entry({ after: { params: 'é'.repeat(300_000) } });
      await store.audit.append(large);
      expect(await store.audit.list({ limit: 1 })).toEqual([large]);
    });
  });
}
