import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { QueryExecutions } from '../../../../src/application/executions/query-executions.js';
import { every, NodeHarness } from '../../../support/node-harness.js';

describe('QueryExecutions', () => {
  let harness: NodeHarness;
  let query: QueryExecutions;
  beforeEach(async () => {
    harness = await NodeHarness.open();
    query = new QueryExecutions({ executions: harness.executions });
    await harness.add(every(10, { id: 'a' }), every(30, { id: 'b' }));
    harness.coordinator('coordinator').start();
    harness.worker('worker').start();
    await harness.clock.advance(60_000);
  });
  afterEach(() => harness.close());

  it('lists executions, the newest first', async () => {
    const { items } = await query.list({ taskId: 'a' }, { size: 3, cursor: null, offset: 0 });
    expect(items.map(({ event }) => event.taskId)).toEqual(['a', 'a', 'a']);
    const slots = items.map(({ event }) => event.slot);
    expect(slots).toEqual(slots.toSorted((x, y) => y - x));
    const all = await query.list({ status: 'success' }, { size: 100, cursor: null, offset: 0 });
    expect(all.items).toHaveLength(8);
  });

  it('finds one with its ledger, and says when there is none', async () => {
    const [first] = await harness.all('b');
    const found = await query.find(first?.event.id ?? '');
    expect(found.execution).toEqual(first);
    expect(found.ledger.map(({ kind }) => kind)).toEqual(['triggered', 'published', 'claimed', 'finished']);
    await expect(query.find('nothing')).rejects.toMatchObject({ code: 'not_found' });
  });
});
