import { describe, expect, it } from 'vitest';
import { assertRedisFit } from '../../../../src/adapters/redis/redis-fit.js';

const server = (version: string, policy: string) => ({
  info: async (section: string) =>
    section === 'server'
      ? `# Server\r\nredis_version:${version}\r\nredis_mode:standalone\r\n`
      : `# Memory\r\nused_memory:1\r\nmaxmemory_policy:${policy}\r\nmem_fragmentation_ratio:1.2\r\n`,
});

describe('assertRedisFit', () => {
  it.each(['6.2.0', '7.0.15', '8.10.1', '10.0.0'])('takes Redis %s that evicts nothing', async (version) => {
    await expect(assertRedisFit(server(version, 'noeviction'))).resolves.toBeUndefined();
  });

  it.each(['5.0.14', '6.0.16', '2.8'])('refuses Redis %s and names the oldest that fits', async (version) => {
    const refused = assertRedisFit(server(version, 'noeviction'));
    await expect(refused).rejects.toMatchObject({ code: 'refused_start' });
    await expect(refused).rejects.toThrow(
      `Redis ${version} is too old, it lacks XAUTOCLAIM: use 6.2 or newer`,
    );
  });

  it.each(['allkeys-lru', 'volatile-ttl', 'allkeys-random'])(
    'refuses eviction by %s and names the fix',
    async (policy) => {
      const refused = assertRedisFit(server('7.2.4', policy));
      await expect(refused).rejects.toMatchObject({ code: 'refused_start' });
      await expect(refused).rejects.toThrow(`maxmemory-policy is "${policy}"`);
      await expect(refused).rejects.toThrow('set "maxmemory-policy noeviction"');
    },
  );

  it('takes a server that does not tell', async () => {
    await expect(assertRedisFit({ info: async () => null })).resolves.toBeUndefined();
    await expect(assertRedisFit({ info: async () => '# Server\r\n' })).resolves.toBeUndefined();
  });
});
