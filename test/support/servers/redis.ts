import { Redis } from 'ioredis';
import type { ServerKind } from './server-kind.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** `redis://…`, shared by all test files: each uses its own namespace. */
    redisUrl: string;
  }
}

export const redis: ServerKind = {
  title: 'Redis',
  provides: 'redisUrl',
  variable: 'AX_TEST_REDIS_URL',
  url: ({ host, port }, password) => `redis://:${password}@${host}:${port}`,
  async logIn(url) {
    const client = new Redis(url, {
      lazyConnect: true,
      connectTimeout: 5000,
      commandTimeout: 5000,
      maxRetriesPerRequest: 0,
      retryStrategy: null,
    });
    let reason: Error | undefined;
    client.on('error', (error: Error) => (reason ??= error));
    try {
      await client.connect();
      const info = await client.info('server');
      return /^redis_version:(\S+)/m.exec(info)?.[1] ?? 'of unknown version';
    } catch (error) {
      throw reason ?? error;
    } finally {
      client.disconnect();
    }
  },
  container: {
    image: 'redis:7-alpine',
    port: 6379,
    environment: () => ({}),
    command: (password) => ['redis-server', '--requirepass', password, '--save', '', '--appendonly', 'no'],
  },
  programs: 'redis-server',
  recipe(find) {
    const server = find('redis-server');
    if (!server) return undefined;
    return {
      users: ['redis', 'nobody'],
      files: ({ directory, port, password }) => ({
        'redis.conf': [
          'bind 127.0.0.1',
          `port ${port}`,
          `dir ${directory}`,
          `requirepass ${password}`,
          'save ""',
          'appendonly no',
          '',
        ].join('\n'),
      }),
      commands: ({ directory }) => [[server, `${directory}/redis.conf`]],
    };
  },
  debianPackage: 'redis-server',
};
