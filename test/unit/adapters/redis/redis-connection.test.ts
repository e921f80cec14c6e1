import { describe, expect, it } from 'vitest';
import { RedisConnection } from '../../../../src/adapters/redis/redis-connection.js';
import { total, valuesOf } from '../../../support/measured.js';
import { RecordingLogger, RecordingMetrics } from '../../../support/recording.js';

describe('RedisConnection', () => {
  it('measures an operation that fails, and how long it took to', async () => {
    const metrics = new RecordingMetrics();
    const url = 'redis://127.0.0.1:1'; // Nobody listens there.
    const connection = new RedisConnection({ url, namespace: 'any', logger: new RecordingLogger(), metrics });
    await expect(connection.run((client) => client.ping())).rejects.toMatchObject({ code: 'unavailable' });
    await connection.close();
    expect(total(metrics, 'redis_errors_total', { code: 'unavailable' })).toBe(1);
    const [seconds = 0, ...others] = valuesOf(metrics, 'redis_operation_duration_seconds');
    expect(seconds).toBeGreaterThan(1);
    expect(others).toEqual([]);
  });
});
