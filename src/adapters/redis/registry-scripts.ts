import { redisScript } from './redis-script.js';

/**
 * The registry is a hash, instance → announcement as JSON, and a sorted set, instance → end of its life, epoch ms by the server's clock.
 * Both expire with the longest life among them.
 */
const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;
/** More than this many that have ended are left to the next announcement. */
const SWEPT = 1000;

/** KEYS announcements, lives · ARGV instance, announcement, ttl ms · result none. Sweeps out those that have ended. */
export const ANNOUNCE = redisScript(`${NOW}
local ended = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'LIMIT', 0, ${SWEPT})
if #ended > 0 then
  redis.call('ZREM', KEYS[2], unpack(ended))
  redis.call('HDEL', KEYS[1], unpack(ended))
end
redis.call('ZADD', KEYS[2], now + ARGV[3], ARGV[1])
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
for _, key in ipairs(KEYS) do
  if redis.call('PTTL', key) < tonumber(ARGV[3]) then redis.call('PEXPIRE', key, ARGV[3]) end
end
`);

/** KEYS announcements, lives · ARGV instance · result none. */
export const WITHDRAW = redisScript(`
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('HDEL', KEYS[1], ARGV[1])
`);

/** KEYS announcements, lives · no ARGV · result the announcements that hold. */
export const LIST = redisScript(`${NOW}
local live = {}
for _, instance in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. now, '+inf')) do
  local text = redis.call('HGET', KEYS[1], instance)
  if text then live[#live + 1] = text end
end
return live
`);
