import { createHash } from 'node:crypto';

/** A Lua script and the digest under which a server that has seen it runs it. */
export interface RedisScript {
  readonly source: string;
  readonly sha: string;
}

export const redisScript = (source: string): RedisScript => ({
  source,
  sha: createHash('sha1').update(source).digest('hex'),
});
