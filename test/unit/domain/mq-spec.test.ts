import { describe, expect, it } from 'vitest';
import { executorProblems } from '../../../src/domain/executor-spec.js';
import { type MqExecutorSpec } from '../../../src/domain/executors/mq-spec.js';
import { specTo } from '../../support/mq-spec.js';

const fieldsOf = (overrides: Partial<MqExecutorSpec>) =>
  executorProblems(specTo('orders', overrides)).map(({ field }) => field);

describe('the rules of an mq executor', () => {
  it('let plain ones through', () => {
    expect(fieldsOf({})).toEqual([]);
    expect(
      fieldsOf({ exchange: 'jobs', routingKey: '', broker: 'eu_west', headers: { 'x-a': 'ä' } }),
    ).toEqual([]);
  });

  it.each<[string, Partial<MqExecutorSpec>]>([
    ['executor.routing_key', { routingKey: 'é'.repeat(128) }],
    ['executor.routing_key', { routingKey: 'a\nb' }],
    ['executor.routing_key', { routingKey: '' }],
    ['executor.exchange', { exchange: 'x'.repeat(256) }],
    ['executor.broker', { broker: 'EU' }],
    ['executor.headers.x-ax-attempt', { headers: { 'x-ax-attempt': '1' } }],
    ['executor.headers.x', { headers: { x: 'a\r\nb' } }],
  ])('name %s in %j', (field, overrides) => {
    expect(fieldsOf(overrides)).toEqual([field]);
  });

  it('refuse headers that are too many, or too large together', () => {
    const some = (count: number, bytes: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`h${n}`, 'x'.repeat(bytes)]));
    expect(fieldsOf({ headers: some(51, 1) })).toEqual(['executor.headers']);
    expect(fieldsOf({ headers: some(50, 700) })).toEqual(['executor.headers']);
    expect(fieldsOf({ headers: some(50, 600) })).toEqual([]);
  });
});
